// Patterns are matched in two steps, as git does: the literal beginning of a pattern is compared
// first, and only the rest goes through the wildcard matcher. The split can be seen from outside,
// because `**` is special at the start of what the matcher gets: "a**/b" matches "ab", since "a" is
// taken off before. The tests compare with git itself on generated trees.
//
// The matcher backtracks. A star that fails because it met a '/' tells so (`stuck_at_slash`): then
// only an enclosing `**` can help, and single stars between give up at once. The number of steps is
// bounded besides, since patterns come from files that anybody may write; a pattern that exceeds it
// does not match.
#include "text/ignore.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace quire::text {
namespace {

constexpr std::size_t kMaxSteps = 1'000'000;

bool is_special(char c) {
    return c == '*' || c == '?' || c == '[' || c == '\\';
}

std::size_t literal_length(std::string_view pattern) {
    return static_cast<std::size_t>(std::find_if(pattern.begin(), pattern.end(), is_special) -
                                    pattern.begin());
}

// The POSIX classes of a bracket expression, in the C locale.
bool in_class(std::string_view name, unsigned char c, bool& known) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool lower = c >= 'a' && c <= 'z';
    const bool digit = c >= '0' && c <= '9';
    const bool graph = c > ' ' && c < 0x7F;
    known = true;
    if (name == "alnum") return upper || lower || digit;
    if (name == "alpha") return upper || lower;
    if (name == "blank") return c == ' ' || c == '\t';
    if (name == "cntrl") return c < ' ' || c == 0x7F;
    if (name == "digit") return digit;
    if (name == "graph") return graph;
    if (name == "lower") return lower;
    if (name == "print") return graph || c == ' ';
    if (name == "punct") return graph && !upper && !lower && !digit;
    if (name == "space") return c == ' ' || (c >= '\t' && c <= '\r');
    if (name == "upper") return upper;
    if (name == "xdigit") return digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    known = false;
    return false;
}

// How a match ended. The two last say why trying again further right is pointless.
enum class Match : std::uint8_t { yes, no, stuck_at_slash, text_too_short };

// One comparison of a pattern with a path.
class Matcher {
public:
    Match run(std::string_view pattern, std::string_view path) {
        std::size_t p = 0;
        std::size_t t = 0;
        for (; p < pattern.size(); ++p, ++t) {
            if (++steps_ > kMaxSteps) return Match::text_too_short;
            char expected = pattern[p];
            if (t == path.size() && expected != '*') return Match::text_too_short;
            switch (expected) {
                case '?':
                    if (path[t] == '/') return Match::no;
                    break;
                case '[':
                    if (const Match in = bracket(pattern, p, path[t]); in != Match::yes) return in;
                    break;
                case '*': {
                    std::optional<Match> ended = star(pattern, p, path, t);
                    if (ended) return *ended;
                    break;
                }
                case '\\':
                    if (++p == pattern.size()) return Match::no;
                    expected = pattern[p];
                    [[fallthrough]];
                default:
                    if (path[t] != expected) return Match::no;
            }
        }
        return t == path.size() ? Match::yes : Match::no;
    }

private:
    // A star at pattern[p] against path from t. Gives the result of the whole match, or none after
    // a star and a slash have moved both places to that slash.
    std::optional<Match> star(std::string_view pattern, std::size_t& p, std::string_view path,
                              std::size_t& t) {
        const std::size_t first = p;
        while (p < pattern.size() && pattern[p] == '*') ++p;
        const std::string_view rest = pattern.substr(p);
        const bool opens = first == 0 || pattern[first - 1] == '/';
        const bool closes = rest.empty() || rest[0] == '/' || rest.starts_with("\\/");
        const bool crosses = p - first > 1 && opens && closes;
        if (crosses && rest.starts_with('/')) {
            // "**/" may stand for no folder at all.
            if (run(rest.substr(1), path.substr(t)) == Match::yes) return Match::yes;
        }
        if (rest.empty()) {
            const bool folder_follows = path.find('/', t) != std::string_view::npos;
            return crosses || !folder_follows ? Match::yes : Match::stuck_at_slash;
        }
        if (!crosses && rest[0] == '/') {
            t = path.find('/', t);
            if (t == std::string_view::npos) return Match::stuck_at_slash;
            return std::nullopt;
        }
        for (; t < path.size(); ++t) {
            const Match tried = run(rest, path.substr(t));
            if (tried != Match::no && (!crosses || tried != Match::stuck_at_slash)) return tried;
            if (!crosses && path[t] == '/') return Match::stuck_at_slash;
        }
        return Match::text_too_short;
    }

    // A bracket expression that opens at pattern[p]; leaves p at its ']'.
    static Match bracket(std::string_view pattern, std::size_t& p, char c) {
        const auto byte = static_cast<unsigned char>(c);
        const auto at = [&](std::size_t i) {
            return i < pattern.size() ? static_cast<unsigned char>(pattern[i]) : 0U;
        };
        ++p;
        const bool negated = at(p) == '!' || at(p) == '^';
        if (negated) ++p;
        bool matched = false;
        unsigned previous = 0;
        for (bool first = true; first || at(p) != ']'; ++p, first = false) {
            unsigned here = at(p);
            if (p >= pattern.size()) return Match::text_too_short;
            if (here == '\\') {
                if (++p >= pattern.size()) return Match::text_too_short;
                here = at(p);
                matched |= byte == here;
            } else if (here == '-' && previous != 0 && p + 1 < pattern.size() && at(p + 1) != ']') {
                unsigned last = at(++p);
                if (last == '\\') {
                    if (++p >= pattern.size()) return Match::text_too_short;
                    last = at(p);
                }
                matched |= byte >= previous && byte <= last;
                here = 0;  // A range cannot begin another.
            } else if (here == '[' && at(p + 1) == ':') {
                const std::size_t close = pattern.find(']', p + 2);
                if (close == std::string_view::npos) return Match::text_too_short;
                if (close == p + 2 || pattern[close - 1] != ':') {
                    matched |= byte == '[';  // No class after all: "[:" are two members.
                } else {
                    bool known = false;
                    matched |= in_class(pattern.substr(p + 2, close - p - 3), byte, known);
                    if (!known) return Match::text_too_short;
                    p = close;
                    here = 0;
                }
            } else {
                matched |= byte == here;
            }
            previous = here;
        }
        return matched != negated && c != '/' ? Match::yes : Match::no;
    }

    std::size_t steps_ = 0;
};

// Cuts the spaces at the end of a line, but not one that a backslash keeps.
std::string_view without_trailing_spaces(std::string_view line) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\') {
            if (++i == line.size()) return line;
            kept = i + 1;
        } else if (line[i] != ' ') {
            kept = i + 1;
        }
    }
    return line.substr(0, kept);
}

}  // namespace

IgnoreFile IgnoreFile::parse(std::string_view content) {
    IgnoreFile file;
    if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
    while (!content.empty()) {
        const std::size_t end = std::min(content.find('\n'), content.size());
        std::string_view line = content.substr(0, end);
        content.remove_prefix(std::min(end + 1, content.size()));
        if (line.empty() || line[0] == '#') continue;
        if (line.ends_with('\r')) line.remove_suffix(1);
        // git reads a line as a C string, which a NUL ends.
        line = without_trailing_spaces(line.substr(0, line.find('\0')));

        Pattern pattern;
        pattern.includes = line.starts_with('!');
        if (pattern.includes) line.remove_prefix(1);
        pattern.folders_only = line.ends_with('/');
        if (pattern.folders_only) line.remove_suffix(1);
        pattern.by_name = line.find('/') == std::string_view::npos;
        pattern.literal = literal_length(line);
        pattern.by_tail =
            line.starts_with('*') && literal_length(line.substr(1)) == line.size() - 1;
        pattern.text = line;
        if (!pattern.text.empty()) file.patterns_.push_back(std::move(pattern));
    }
    return file;
}

// Most patterns are a bare name or a star and an ending, which need no matcher.
bool IgnoreFile::Pattern::matches(std::string_view path) const {
    std::string_view wanted = text;
    std::size_t begins = literal;
    if (by_name) {
        const std::string_view name = path.substr(path.rfind('/') + 1);
        if (begins == wanted.size()) return name == wanted;
        if (by_tail) return name.ends_with(wanted.substr(1));
        return Matcher().run(wanted, name) == Match::yes;
    }
    if (wanted.starts_with('/')) {
        wanted.remove_prefix(1);
        begins -= 1;
    }
    if (!path.starts_with(wanted.substr(0, begins))) return false;
    return Matcher().run(wanted.substr(begins), path.substr(begins)) == Match::yes;
}

// The last pattern that matches decides, so they are tried from the end.
IgnoreVerdict IgnoreFile::judge(std::string_view path, bool is_folder) const {
    const auto found = std::find_if(patterns_.rbegin(), patterns_.rend(), [&](const Pattern& each) {
        return (is_folder || !each.folders_only) && each.matches(path);
    });
    if (found == patterns_.rend()) return IgnoreVerdict::unmatched;
    return found->includes ? IgnoreVerdict::included : IgnoreVerdict::ignored;
}

IgnoreChain IgnoreChain::below(const IgnoreChain& parent, std::string folder,
                               std::vector<IgnoreFile> files) {
    std::erase_if(files, [](const IgnoreFile& file) { return file.empty(); });
    if (files.empty()) return parent;
    IgnoreChain chain;
    chain.last_ =
        std::make_shared<const Link>(Link{parent.last_, std::move(folder), std::move(files)});
    return chain;
}

bool IgnoreChain::ignores(std::string_view path, bool is_folder) const {
    for (const Link* link = last_.get(); link != nullptr; link = link->parent.get()) {
        const std::string_view below =
            path.substr(link->folder.empty() ? 0 : link->folder.size() + 1);
        for (auto file = link->files.rbegin(); file != link->files.rend(); ++file) {
            const IgnoreVerdict verdict = file->judge(below, is_folder);
            if (verdict != IgnoreVerdict::unmatched) return verdict == IgnoreVerdict::ignored;
        }
    }
    return false;
}

}  // namespace quire::text
