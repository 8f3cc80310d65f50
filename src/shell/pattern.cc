// Matching as bash does it, with one difference: in doubt the answer is that the name fits. A
// prediction that names too many files is safe, and one that misses a file is not. So a set that a
// locale could read in another way takes every character, and so does a name of which a part is not
// known.
#include "shell/pattern.h"

#include <algorithm>
#include <optional>

#include "shell/values.h"

namespace quire::shell {

namespace {

bool is_wildcard(char c) {
    return c == '*' || c == '?' || c == '[';
}

// A set such as [a-z], at the beginning of a pattern.
struct CharacterSet {
    std::size_t length = 0;  // 0 if the pattern does not begin with a set.
    bool is_plain =
        false;          // ASCII characters, ranges and classes, which mean the same to every shell.
    bool takes = true;  // It takes the character, or may.
    bool is_open = false;  // How long it is cannot be told: what follows may fit anything.
};

// [:digit:] and its like, for ASCII; nothing for a class that is not known.
std::optional<bool> is_in_class(std::string_view name, char c) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool upper = c >= 'A' && c <= 'Z';
    const bool digit = c >= '0' && c <= '9';
    const bool graph = c > ' ' && c < 0x7F;
    if (name == "alpha") return lower || upper;
    if (name == "digit") return digit;
    if (name == "alnum") return lower || upper || digit;
    if (name == "lower") return lower;
    if (name == "upper") return upper;
    if (name == "space") return c == ' ' || (c >= '\t' && c <= '\r');
    if (name == "blank") return c == ' ' || c == '\t';
    if (name == "graph") return graph;
    if (name == "print") return graph || c == ' ';
    if (name == "punct") return graph && !lower && !upper && !digit;
    if (name == "cntrl") return (c >= 0 && c < ' ') || c == 0x7F;
    if (name == "xdigit") return digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    return std::nullopt;
}

// Reads the set once for both questions: how long it is, and whether it takes `c`. A ']' that comes
// first is a member, and a backslash takes the next character as it is. A range with an odd end or a
// character beyond ASCII makes the set unclear: it takes everything.
CharacterSet set_at(std::string_view pattern, char c) {
    if (!pattern.starts_with('[')) return {};
    std::size_t at = 1;
    const auto peek = [&](std::size_t ahead) {
        return at + ahead < pattern.size() ? pattern[at + ahead] : '\0';
    };
    const bool is_negated = peek(0) == '!' || peek(0) == '^';
    if (is_negated) ++at;
    bool is_in = false;
    bool is_clear = static_cast<unsigned char>(c) < 0x80;
    // One member as it is written, which may have a backslash. Moves behind it.
    const auto member = [&] {
        if (peek(0) == '\\' && at + 1 < pattern.size()) ++at;
        const char each = peek(0);
        ++at;
        is_clear = is_clear && each != kSomeName && static_cast<unsigned char>(each) < 0x80;
        return each;
    };
    for (const std::size_t first = at; at == first || peek(0) != ']';) {
        if (at >= pattern.size()) return {};
        const char mark = peek(1);
        if (peek(0) == '[' && (mark == ':' || mark == '=' || mark == '.')) {
            const char end[] = {mark, ']'};
            const std::size_t close = pattern.find(std::string_view(end, 2), at + 2);
            const std::string_view name =
                close == pattern.npos ? "" : pattern.substr(at + 2, close - at - 2);
            // Shells differ about [=a=] and [.a.], and about a class that is not closed or is none.
            const auto in_class = mark == ':' ? is_in_class(name, c) : std::nullopt;
            if (!in_class) return {.length = pattern.size(), .is_open = true};
            is_in = is_in || *in_class;
            at = close + 2;
            // A '-' behind a class is no range to every shell.
            is_clear = is_clear && (peek(0) != '-' || peek(1) == ']');
            continue;
        }
        if (peek(0) == kSomeName) return {.length = pattern.size(), .is_open = true};
        const char begin = member();
        char last = begin;
        if (peek(0) == '-' && peek(1) != ']' && at + 1 < pattern.size()) {
            ++at;
            is_clear = is_clear && peek(0) != '[';
            last = member();
        }
        is_in = is_in || (c >= begin && c <= last);
    }
    return {at + 1, is_clear, !is_clear || is_in != is_negated};
}

}  // namespace

void add_escaped(std::string& out, char c) {
    if (is_wildcard(c) || c == ']' || c == '\\') out += '\\';
    out += c;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) add_escaped(out, c);
    return out;
}

bool has_wildcard(std::string_view pattern) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '\\') {
            ++i;
        } else if (is_wildcard(pattern[i])) {
            return true;
        }
    }
    return false;
}

std::string unescaped(std::string_view pattern) {
    std::string out;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
        out += pattern[i];
    }
    return out;
}

bool has_plain_sets(std::string_view pattern) {
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] == '\\') {
            ++at;
        } else if (const CharacterSet set = set_at(pattern.substr(at), 'a'); set.length > 0) {
            if (!set.is_plain || set.is_open) return false;
            at += set.length - 1;
        }
    }
    return true;
}

// Goes back only to the last star: a star that fits earlier can always take over what a previous
// one took. So the work is bounded by the product of the lengths, and does not grow exponentially
// with the stars.
bool fits(std::string_view pattern, std::string_view name) {
    if (name.find(kSomeName) != std::string_view::npos) return true;
    // How many bytes a character has depends on the locale.
    const bool is_ascii = std::all_of(name.begin(), name.end(),
                                      [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (!is_ascii && pattern.find_first_of("?[") != std::string_view::npos) return true;
    std::size_t p = 0;
    std::size_t n = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_name = 0;
    const auto one = [&]() -> std::size_t {  // The length of the pattern's piece that fits name[n].
        if (pattern[p] == '?') return 1;
        if (const CharacterSet set = set_at(pattern.substr(p), name[n]); set.length > 0)
            return set.takes ? set.length : 0;
        const bool is_escape = pattern[p] == '\\' && p + 1 < pattern.size();
        const char wanted = pattern[is_escape ? p + 1 : p];
        if (wanted != name[n] && wanted != kSomeName) return 0;
        return is_escape ? 2 : 1;
    };
    while (n < name.size()) {
        if (p < pattern.size() && (pattern[p] == '*' || pattern[p] == kSomeName)) {
            star = p++;
            star_name = n;
            continue;
        }
        if (p < pattern.size() && set_at(pattern.substr(p), name[n]).is_open) return true;
        const std::size_t length = p < pattern.size() ? one() : 0;
        if (length > 0) {
            p += length;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++star_name;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && (pattern[p] == '*' || pattern[p] == kSomeName)) ++p;
    return p == pattern.size();
}

}  // namespace quire::shell
