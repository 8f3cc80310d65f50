// Matching as bash does it, with one difference: in doubt the answer is that the name fits. A
// prediction that names too many files is safe, and one that misses a file is not. So a set that a
// locale could read in another way takes every character, and so does a name of which a part is not
// known.
#include "shell/pattern.h"

#include "shell/values.h"

namespace quire::shell {

namespace {

bool is_wildcard(char c) {
    return c == '*' || c == '?' || c == '[';
}

// A set such as [a-z], at the beginning of a pattern.
struct CharacterSet {
    std::size_t length = 0;  // 0 if the pattern does not begin with a set.
    bool is_plain = false;   // ASCII characters and ranges, which mean the same to every shell.
    bool takes = true;       // It takes the character, or may.
};

// Reads the set once for both questions: how long it is, and whether it takes `c`. A ']' that comes
// first is a member. A '-' that stands for itself makes the set unclear, as a character beyond
// ASCII does.
CharacterSet set_at(std::string_view pattern, char c) {
    if (!pattern.starts_with('[')) return {};
    const auto is_odd = [](char each) {
        return each == '[' || each == '\\' || each == '-' || each == kSomeName ||
               static_cast<unsigned char>(each) >= 0x80;
    };
    const std::size_t close = pattern.find(']', 2);
    if (close == std::string_view::npos) return {};
    const CharacterSet unclear{close + 1, false, true};
    std::size_t at = 1;
    const bool is_negated = pattern[at] == '!' || pattern[at] == '^';
    if (is_negated) ++at;
    bool is_in = false;
    for (const std::size_t first = at;
         at == first || (at < pattern.size() && pattern[at] != ']');) {
        if (at >= pattern.size() || is_odd(pattern[at])) return unclear;
        const bool is_range =
            at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']';
        if (is_range && is_odd(pattern[at + 2])) return unclear;
        const char last = is_range ? pattern[at + 2] : pattern[at];
        is_in = is_in || (c >= pattern[at] && c <= last);
        at += is_range ? 3 : 1;
        if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] == ']') return unclear;
    }
    if (at >= pattern.size() || static_cast<unsigned char>(c) >= 0x80) return unclear;
    return {at + 1, true, is_in != is_negated};
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
            if (!set.is_plain) return false;
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
