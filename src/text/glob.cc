// A pattern is expanded at its braces into alternatives, and each alternative is parsed into
// tokens. Matching simulates the tokens as a nondeterministic automaton, all states at once
// (Thompson, "Regular Expression Search Algorithm", 1968):
//
//   pattern  src/**/*.cc      tokens  s r c / dirs in_dirs star . c c
//   state i  the tokens [0, i) have matched the path so far
//
// Each code point of the path moves the set of states one step; stars and dirs keep their state.
// There is no backtracking, so a path of n code points costs O(n · tokens), whatever the pattern.

#include "text/glob.h"

#include <algorithm>
#include <optional>

#include "base/concat.h"
#include "base/utf8.h"

namespace quire::text {
namespace {

// Braces multiply: {a,b}{c,d} is four patterns. A pattern with more alternatives is a mistake.
constexpr std::size_t kMaxAlternatives = 64;

// The path as code points; bytes that are not UTF-8 become values that no code point has.
std::vector<char32_t> units_of(std::string_view path) {
    std::vector<char32_t> units;
    units.reserve(path.size());
    while (!path.empty()) {
        const std::size_t valid = utf8::find_invalid(path).value_or(path.size());
        for (std::size_t at = 0; at < valid;) units.push_back(utf8::decode(path, at));
        if (valid < path.size())
            units.push_back(0x110000U + static_cast<unsigned char>(path[valid]));
        path.remove_prefix(std::min(valid + 1, path.size()));
    }
    return units;
}

Failure malformed(std::string_view pattern, std::size_t offset, std::string_view why) {
    Map details;
    details.set("offset", offset);
    return invalid("invalid_glob",
                   cat("the pattern '", pattern, "' is malformed at byte ", offset, ": ", why),
                   std::move(details));
}

// The length of the pattern's unit at `at`: an escape with its character, or one character.
std::size_t step(std::string_view pattern, std::size_t at) {
    return pattern[at] == '\\' && at + 1 < pattern.size() ? 2 : 1;
}

// The position behind the ']' of the class that opens at `at`; nothing if it never closes.
std::optional<std::size_t> end_of_class(std::string_view pattern, std::size_t at) {
    ++at;
    if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) ++at;
    if (at < pattern.size() && pattern[at] == ']')
        ++at;  // A ']' that comes first is a character of the class.
    while (at < pattern.size() && pattern[at] != ']') at += step(pattern, at);
    if (at >= pattern.size()) return std::nullopt;
    return at + 1;
}

struct Braces {
    std::size_t open = 0;
    std::size_t close = 0;
    std::vector<std::string_view> choices;
};

// The first outermost {…}; `open` == npos if there is none.
Result<Braces> find_braces(std::string_view pattern) {
    Braces braces{std::string_view::npos, 0, {}};
    std::size_t depth = 0;
    std::size_t from = 0;
    for (std::size_t at = 0; at < pattern.size(); at += step(pattern, at)) {
        const char c = pattern[at];
        if (c == '[') {
            const auto end = end_of_class(pattern, at);
            if (!end) {
                return malformed(pattern, at,
                                 "'[' has no ']'; write '\\[' for the character itself");
            }
            at = *end - 1;
        } else if (c == '{') {
            if (depth++ == 0) braces.open = at, from = at + 1;
        } else if (depth > 0 && c == ',' && depth == 1) {
            braces.choices.push_back(pattern.substr(from, at - from));
            from = at + 1;
        } else if (c == '}') {
            if (depth == 0) {
                return malformed(pattern, at,
                                 "'}' without '{'; write '\\}' for the character itself");
            }
            if (--depth > 0) continue;
            braces.choices.push_back(pattern.substr(from, at - from));
            braces.close = at;
            return braces;
        }
    }
    if (depth > 0) {
        return malformed(pattern, braces.open,
                         "'{' has no '}'; write '\\{' for the character itself");
    }
    return braces;
}

// Expands the first braces and then the results, until none has braces left.
Result<std::vector<std::string>> expand(std::string_view whole) {
    std::vector<std::string> open = {std::string(whole)};
    std::vector<std::string> done;
    while (!open.empty()) {
        const std::string next = std::move(open.back());
        open.pop_back();
        const Braces braces = TRY(find_braces(next));
        if (braces.open == std::string_view::npos) {
            done.push_back(next);
        } else {
            for (const std::string_view choice : braces.choices) {
                open.push_back(cat(std::string_view(next).substr(0, braces.open), choice,
                                   std::string_view(next).substr(braces.close + 1)));
            }
        }
        if (open.size() + done.size() > kMaxAlternatives) {
            return malformed(whole, 0,
                             "its braces stand for more than 64 patterns; write several rules");
        }
    }
    return done;
}

}  // namespace

// Parses one alternative, without braces.
class Glob::Parser {
public:
    explicit Parser(std::string_view pattern) : text_(pattern) {}

    // Parses component by component; '/' is a token of its own.
    Result<Tokens> parse() {
        if (at_ < text_.size() && text_[at_] == '/') ++at_;
        if (at_ == text_.size()) return bad("it is empty; write '**' for every path");
        while (at_ < text_.size()) {
            if (text_[at_] == '/') return bad("two '/' in a row");
            TRY(component());
            if (at_ == text_.size()) break;
            if (++at_ == text_.size())
                return bad("it ends with '/'; write '/**' for what is below a directory");
            if (!ends_in_dirs()) add(Kind::literal, U'/');
            if (rest() == "**") {
                // Everything below: at least one character, and no component begins with '/'.
                add(Kind::any);
                add(Kind::cross);
                break;
            }
        }
        return std::move(tokens_);
    }

private:
    Failure bad(std::string_view why) const { return malformed(text_, at_, why); }
    std::string_view rest() const { return text_.substr(at_); }
    std::string_view this_component() const { return rest().substr(0, rest().find('/')); }
    bool ends_in_dirs() const { return !tokens_.empty() && tokens_.back().kind == Kind::in_dirs; }
    void add(Kind kind, char32_t literal = 0) { tokens_.push_back({kind, literal, false, {}}); }

    // One component: "**" is special, anything else is a run of elements.
    Result<void> component() {
        const std::string_view name = this_component();
        if (name == "." || name == "..") return bad("'.' and '..' are never part of a path here");
        if (name == "**" && name.size() < rest().size()) {
            at_ += 2;
            if (ends_in_dirs()) return {};  // "**/**/" means the same as "**/".
            add(Kind::dirs);
            add(Kind::in_dirs);
            return {};
        }
        while (at_ < text_.size() && text_[at_] != '/') TRY(element());
        return {};
    }

    // One character, star, class or escape.
    Result<void> element() {
        switch (text_[at_]) {
            case '*': {
                const std::size_t stars = std::min(rest().find_first_not_of('*'), rest().size());
                if (stars > 2) return bad("more than two '*' in a row");
                add(stars == 2 ? Kind::cross : Kind::star);
                at_ += stars;
                return {};
            }
            case '?':
                add(Kind::any);
                ++at_;
                return {};
            case '[':
                return char_class();
            case '\0':
                return bad("a path has no NUL");
            case '\\':
                if (at_ + 1 == text_.size()) return bad("it ends with a lone '\\'");
                ++at_;
                if (text_[at_] == '/') return bad("'/' cannot be escaped");
                break;
            default:
                break;
        }
        add(Kind::literal, utf8::decode(text_, at_));
        return {};
    }

    // A class: an optional '!' or '^', then characters and ranges.
    Result<void> char_class() {
        const auto end = end_of_class(text_, at_);
        if (!end) return bad("'[' has no ']'; write '\\[' for the character itself");
        Token token{Kind::set, 0, false, {}};
        std::size_t at = at_ + 1;
        if (text_[at] == '!' || text_[at] == '^') token.negated = true, ++at;
        const auto next = [&] {
            if (text_[at] == '\\' && at + 2 < *end) ++at;
            return utf8::decode(text_, at);
        };
        while (at + 1 < *end) {
            const char32_t low = next();
            char32_t high = low;
            if (text_[at] == '-' && at + 2 < *end) {
                ++at;
                high = next();
            }
            if (high < low) return bad("a range in '[...]' runs backwards");
            if (low <= U'/' && U'/' <= high && (low == U'/' || high == U'/'))
                return bad("'/' inside '[...]'");
            token.ranges.emplace_back(low, high);
        }
        at_ = *end;
        tokens_.push_back(std::move(token));
        return {};
    }

    std::string_view text_;
    std::size_t at_ = 0;
    Tokens tokens_;
};

Result<Glob> Glob::compile(std::string_view pattern) {
    if (const auto at = utf8::find_invalid(pattern))
        return malformed("(not UTF-8)", *at, "it is not UTF-8");
    Glob glob;
    glob.pattern_ = pattern;
    for (const std::string& each : TRY(expand(pattern))) {
        glob.alternatives_.push_back(
            {TRY(Parser(each).parse()), each.find('/') == std::string::npos});
    }
    return glob;
}

// A pattern by name is compared with the last component only.
bool Glob::matches(std::string_view path) const {
    const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 == 0.
    return std::ranges::any_of(alternatives_, [&](const Alternative& alternative) {
        return run(alternative.tokens, alternative.by_name ? name : path);
    });
}

// Runs all states at once, so no pattern makes it slow. State i: tokens[0, i) have matched.
bool Glob::run(const Tokens& tokens, std::string_view subject) {
    std::vector<bool> now(tokens.size() + 1), next(tokens.size() + 1);
    // Tokens that can match nothing are skipped at once; states are ordered, so one pass is enough.
    const auto skip = [&](std::vector<bool>& states) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (!states[i]) continue;
            if (tokens[i].kind == Kind::star || tokens[i].kind == Kind::cross) states[i + 1] = true;
            if (tokens[i].kind == Kind::dirs) states[i + 2] = true;
        }
    };
    now[0] = true;
    skip(now);
    for (const char32_t c : units_of(subject)) {
        std::fill(next.begin(), next.end(), false);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (!now[i]) continue;
            const Token& token = tokens[i];
            switch (token.kind) {
                case Kind::literal:
                    next[i + 1] = next[i + 1] || c == token.literal;
                    break;
                case Kind::any:
                    next[i + 1] = next[i + 1] || c != U'/';
                    break;
                case Kind::set: {
                    const bool in = std::ranges::any_of(token.ranges, [&](auto range) {
                        return range.first <= c && c <= range.second;
                    });
                    next[i + 1] = next[i + 1] || (c != U'/' && in != token.negated);
                    break;
                }
                case Kind::star:
                    next[i] = next[i] || c != U'/';
                    break;
                case Kind::cross:
                    next[i] = true;
                    break;
                case Kind::dirs:
                    next[i + 1] = next[i + 1] || c != U'/';
                    break;
                case Kind::in_dirs:
                    next[c == U'/' ? i - 1 : i] = true;
                    break;
            }
        }
        skip(next);
        now.swap(next);
    }
    return now.back();
}

}  // namespace quire::text
