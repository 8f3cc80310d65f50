// Patterns are matched in two steps, as git does: the literal beginning of a pattern is compared
// first, and only the rest goes through the wildcard matcher. The split can be seen from outside,
// because `**` is special at the start of what the matcher gets: "a**/b" matches "ab", since "a" is
// taken off before. The tests compare with git itself on generated trees.
//
// The matcher does not recurse: it remembers the last star and the last `**`, and goes back to these
// alone. Earlier ones are settled once a later one is reached: a star takes as little as it can,
// which leaves the later one the most, and the later one can take whatever the earlier might have.
// The cost is O(pattern + path^2) at most, wherever brackets are short. The number of steps is bounded
// besides, since patterns come from files that anybody may write; a pattern that exceeds it does not
// match.
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

// One comparison of a pattern with a path.
class Matcher {
public:
    Matcher(std::string_view pattern, std::string_view path) : pattern_(pattern), path_(path) {}

    bool run() {
        while (++steps_ <= kMaxSteps) {
            if (at_.pattern == pattern_.size()) {
                if (at_.path == path_.size()) return true;
                if (!retry()) return false;
            } else if (pattern_[at_.pattern] == '*') {
                if (pass_stars()) return true;
            } else {
                const Match matched = pass_one();
                if (matched == Match::malformed) return false;
                if (matched == Match::no && !retry()) return false;
            }
        }
        return false;
    }

private:
    // How a byte of the path compares. A malformed pattern matches nothing, whatever the path.
    enum class Match : std::uint8_t { yes, no, malformed };

    struct Places {
        std::size_t pattern = 0;
        std::size_t path = 0;
    };

    // Compares one byte of the path with a part of the pattern that is no star, and passes both.
    Match pass_one() {
        if (at_.path == path_.size()) return Match::no;
        const char c = path_[at_.path];
        char expected = pattern_[at_.pattern];
        Match matched = Match::no;
        if (expected == '[') {
            const std::size_t opens = at_.pattern;
            matched = bracket(pattern_, at_.pattern, c);
            steps_ += at_.pattern - opens;
        } else if (expected == '?') {
            matched = c != '/' ? Match::yes : Match::no;
        } else {
            if (expected == '\\') {
                if (++at_.pattern == pattern_.size()) return Match::malformed;
                expected = pattern_[at_.pattern];
            }
            matched = c == expected ? Match::yes : Match::no;
        }
        ++at_.pattern;
        ++at_.path;
        return matched;
    }

    // Passes the stars of the pattern, which at first match an empty part of the path; retry() lets
    // them match more. Returns true if they match the rest of the path whatever it is.
    bool pass_stars() {
        const std::size_t first = at_.pattern;
        at_.pattern = std::min(pattern_.find_first_not_of('*', first), pattern_.size());
        steps_ += at_.pattern - first;
        const std::string_view rest = pattern_.substr(at_.pattern);
        const bool opens = first == 0 || pattern_[first - 1] == '/';
        const bool closes = rest.empty() || rest[0] == '/' || rest.starts_with("\\/");
        if (at_.pattern - first < 2 || !opens || !closes) {
            star_ = at_;
            return false;
        }
        if (rest.empty()) return true;
        star_.reset();
        folders_ = {at_.pattern + (rest[0] == '/' ? 1 : 2), at_.path};
        // A "**/" may stand for no folder at all; one with its slash escaped needs a slash.
        if (rest[0] == '/') at_ = *folders_;
        return false;
    }

    // Goes back to the last star, which then takes one byte more, or else to the last "**/", which
    // takes the next folder. Returns false if neither can take any.
    bool retry() {
        if (star_ && star_->path < path_.size() && path_[star_->path] != '/') {
            ++star_->path;
            at_ = *star_;
            return true;
        }
        star_.reset();
        if (!folders_) return false;
        const std::size_t slash = path_.find('/', folders_->path);
        if (slash == std::string_view::npos) return false;
        folders_->path = slash + 1;
        at_ = *folders_;
        return true;
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
            if (p >= pattern.size()) return Match::malformed;
            if (here == '\\') {
                if (++p >= pattern.size()) return Match::malformed;
                here = at(p);
                matched |= byte == here;
            } else if (here == '-' && previous != 0 && p + 1 < pattern.size() && at(p + 1) != ']') {
                unsigned last = at(++p);
                if (last == '\\') {
                    if (++p >= pattern.size()) return Match::malformed;
                    last = at(p);
                }
                matched |= byte >= previous && byte <= last;
                here = 0;  // A range cannot begin another.
            } else if (here == '[' && at(p + 1) == ':') {
                const std::size_t close = pattern.find(']', p + 2);
                if (close == std::string_view::npos) return Match::malformed;
                if (close == p + 2 || pattern[close - 1] != ':') {
                    matched |= byte == '[';  // No class after all: "[:" are two members.
                } else {
                    bool known = false;
                    matched |= in_class(pattern.substr(p + 2, close - p - 3), byte, known);
                    if (!known) return Match::malformed;
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

    std::string_view pattern_;
    std::string_view path_;
    Places at_;
    std::optional<Places> star_;     // Behind the last star within a folder, and what it has taken.
    std::optional<Places> folders_;  // Behind the last "**/", and the folder from which it tries.
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
        return Matcher(wanted, name).run();
    }
    if (wanted.starts_with('/')) {
        wanted.remove_prefix(1);
        begins -= 1;
    }
    if (!path.starts_with(wanted.substr(0, begins))) return false;
    return Matcher(wanted.substr(begins), path.substr(begins)).run();
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
