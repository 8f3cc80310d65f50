// A translator in one pass: it reads ECMA's syntax and writes RE2's, without building a tree. Each
// construct is either copied, rewritten into an equal RE2 class or escape, or refused with its byte
// offset. Leading lookaheads are the one thing that needs more than one automaton: they are cut out
// as conditions, each a pattern of its own, and the text must satisfy all of them. O(pattern) to
// translate, O(text) per condition to run.

#include "text/ecma_pattern.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <re2/re2.h>

#include "base/concat.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "text/unicode_category.h"

namespace quire::text {
namespace {

constexpr std::size_t kMaxEcmaBytes = 4096;
constexpr std::int64_t kMaxEcmaMemory = 1 << 20;
constexpr std::size_t kMaxConditions = 8;  // Each one is an automaton of its own.

// ECMA's white space and line ends as the inside of a class, and the class of everything else.
constexpr std::string_view kSpace =
    R"(\x{9}-\x{d}\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff})";
constexpr std::string_view kNotSpace =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff})";
constexpr std::string_view kAnything = R"(\x{0}-\x{10ffff})";

// A code point as RE2 escapes it.
std::string escaped(char32_t c) {
    return cat("\\x{", hex_number(c), "}");
}

bool is_high(char32_t c) {
    return c >= 0xD800 && c < 0xDC00;
}
bool is_low(char32_t c) {
    return c >= 0xDC00 && c < 0xE000;
}

// The translated pattern, with the conditions cut out of it.
struct Rewritten {
    struct Condition {
        std::string pattern;
        bool holds;  // False: the condition must not match.
    };
    std::vector<Condition> conditions;  // Tested at the beginning of the text.
    std::string pattern;
};

// Translates one pattern from left to right.
class Rewriter {
public:
    explicit Rewriter(std::string_view pattern) : text_(pattern) {}

    // Translates the whole pattern, or says where it cannot.
    Result<Rewritten> rewrite() {
        while (at_ < text_.size()) TRY(term());
        if (!groups_.empty()) return invalid_here("a group is not closed");
        if (!done_.conditions.empty() && alternates_) {
            return unsupported_here("a lookahead in one of several alternatives");
        }
        done_.pattern = std::move(out_);
        return std::move(done_);
    }

private:
    // An escape: one character, or the inside of a class.
    struct Atom {
        std::optional<char32_t> one;
        std::string set;
    };
    enum class Group { plain, ahead, not_ahead };

    Failure invalid_here(std::string_view what) const {
        return invalid("invalid_regex",
                       cat("no regular expression: ", what, ", at byte ", at_, " of ", text_),
                       {{"offset", at_}});
    }
    Failure unsupported_here(std::string_view what) const {
        return fail(Errc::unsupported, "unsupported_regex",
                    cat("a regular expression that cannot be run here: ", what, ", before byte ",
                        at_, " of ", text_),
                    {{"offset", at_}});
    }

    bool next_is(std::string_view token) const { return text_.substr(at_).starts_with(token); }
    bool take(std::string_view token) {
        if (!next_is(token)) return false;
        at_ += token.size();
        return true;
    }

    // One character, class, group, assertion or escape, with its quantifier.
    Result<void> term() {
        const char c = text_[at_];
        if (c == '*' || c == '+' || c == '?' || (c == '{' && is_counter())) return quantifier();
        // A lookahead's conditions apply to the whole text only before anything else.
        const bool leading = leading_;
        leading_ = leading && (c == '^' || next_is("(?=") || next_is("(?!"));
        if (c == '(') return open(leading && anchored_);
        if (c == ')') return close();
        if (c == '[') return char_class();
        repeatable_ = false;
        if (take("^")) {
            anchored_ = anchored_ || leading;
            out_.append("\\A");
            return {};
        }
        if (take("$")) {
            out_.append("\\z");
            return {};
        }
        if (take("|")) {
            alternates_ = alternates_ || groups_.empty();
            out_.push_back('|');
            return {};
        }
        if (next_is("\\b") || next_is("\\B")) {
            out_.append(text_.substr(at_, 2));
            at_ += 2;
            return {};
        }
        repeatable_ = true;
        if (take(".")) {
            out_.append("[^\\n\\r\\x{2028}\\x{2029}]");
            return {};
        }
        if (c == '\\') {
            const Atom atom = TRY(escape(false));
            out_.append(atom.one ? escaped(*atom.one) : cat("[", atom.set, "]"));
            return {};
        }
        out_.append(escaped(utf8::decode(text_, at_)));
        return {};
    }

    // Returns true if {n}, {n,} or {n,m} begins here; any other brace stands for itself.
    bool is_counter() const {
        std::size_t i = at_ + 1;
        const auto digits = [&] {
            const std::size_t from = i;
            while (i < text_.size() && text_[i] >= '0' && text_[i] <= '9') ++i;
            return i > from;
        };
        if (!digits()) return false;
        if (i < text_.size() && text_[i] == ',') {
            ++i;
            digits();
        }
        return i < text_.size() && text_[i] == '}';
    }

    // Copies a quantifier if something precedes it that can be repeated.
    Result<void> quantifier() {
        if (!repeatable_) return invalid_here("there is nothing to repeat");
        repeatable_ = false;
        const std::size_t end = text_[at_] == '{' ? text_.find('}', at_) : at_;
        out_.append(text_.substr(at_, end + 1 - at_));
        at_ = end + 1;
        if (take("?")) out_.push_back('?');
        return {};
    }

    // An opening parenthesis: a group, a lookahead at the very beginning, or something that is
    // refused.
    Result<void> open(bool as_condition) {
        repeatable_ = false;
        const bool ahead = next_is("(?=");
        const bool not_ahead = next_is("(?!");
        if (next_is("(?<=") || next_is("(?<!")) return unsupported_here("looking behind");
        if (ahead || not_ahead) {
            if (!as_condition) {
                return unsupported_here("looking ahead, other than right after a ^ at the start");
            }
            if (done_.conditions.size() == kMaxConditions) {
                return unsupported_here(cat("more than ", kMaxConditions, " lookaheads"));
            }
            at_ += 3;
            groups_.push_back(ahead ? Group::ahead : Group::not_ahead);
            held_ = std::exchange(out_, "\\A(?:");
            leading_ = false;
            return {};
        }
        if (take("(?<")) {
            const std::size_t end = text_.find('>', at_);
            if (end == std::string_view::npos || end == at_) {
                return invalid_here("the name of a group is not closed");
            }
            at_ = end + 1;
        } else if (!take("(?:")) {
            if (next_is("(?")) return unsupported_here("a group with flags");
            ++at_;
        }
        groups_.push_back(Group::plain);
        out_.append("(?:");
        return {};
    }

    // The end of a group, or of a lookahead, whose text becomes a condition.
    Result<void> close() {
        if (groups_.empty()) return invalid_here("a ) without its (");
        const Group group = groups_.back();
        groups_.pop_back();
        ++at_;
        out_.push_back(')');
        repeatable_ = group == Group::plain;
        if (group == Group::plain) return {};
        done_.conditions.push_back({std::exchange(out_, std::move(held_)), group == Group::ahead});
        leading_ = true;
        return {};
    }

    // A class. Ranges are checked; the rest is copied code point by code point.
    Result<void> char_class() {
        repeatable_ = true;
        ++at_;
        const bool negated = take("^");
        std::string inside;
        while (!take("]")) {
            if (at_ >= text_.size()) return invalid_here("a class is not closed");
            const Atom from = TRY(class_atom());
            const bool range = next_is("-") && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
            if (!range) {
                inside.append(from.one ? escaped(*from.one) : from.set);
                continue;
            }
            ++at_;
            const Atom to = TRY(class_atom());
            if (!from.one || !to.one) {
                // Not a range after all: the - stands for itself.
                for (const Atom& side : {from, to}) {
                    inside.append(side.one ? escaped(*side.one) : side.set);
                }
                inside.append(escaped('-'));
                continue;
            }
            if (*from.one > *to.one) return invalid_here("a range that ends before it begins");
            inside.append(cat(escaped(*from.one), "-", escaped(*to.one)));
        }
        // RE2 has no empty class.
        if (inside.empty()) {
            out_.append(negated ? cat("[", kAnything, "]") : cat("[^", kAnything, "]"));
        } else {
            out_.append(cat(negated ? "[^" : "[", inside, "]"));
        }
        return {};
    }

    Result<Atom> class_atom() {
        if (at_ >= text_.size()) return invalid_here("a class is not closed");
        if (text_[at_] == '\\') return escape(true);
        return Atom{utf8::decode(text_, at_), {}};
    }

    // ECMA's escapes; those that RE2 reads differently are written out.
    Result<Atom> escape(bool in_class) {
        ++at_;
        if (at_ >= text_.size()) return invalid_here("a \\ at the end");
        const char c = text_[at_++];
        const auto one = [](char32_t code) { return Atom{code, {}}; };
        const auto set = [](std::string_view inside) {
            return Atom{std::nullopt, std::string(inside)};
        };
        switch (c) {
            case 'd':
                return set("0-9");
            case 'D':
                return set("\\D");
            case 'w':
                return set("0-9A-Za-z_");
            case 'W':
                return set("\\W");
            case 's':
                return set(kSpace);
            case 'S':
                return set(kNotSpace);
            case 't':
                return one('\t');
            case 'n':
                return one('\n');
            case 'v':
                return one('\v');
            case 'f':
                return one('\f');
            case 'r':
                return one('\r');
            case 'b':
                return one('\b');  // Only in a class; elsewhere \b is a word boundary.
            case 'c':
                return control();
            case 'x':
                return one(TRY(hex(2)));
            case 'u':
                return one(TRY(unicode()));
            case 'p':
            case 'P':
                return property(c == 'P');
            case 'k':
                return unsupported_here("a reference to a group");
            default:
                break;
        }
        const bool digit = c >= '0' && c <= '9';
        if (c == '0' && (at_ >= text_.size() || text_[at_] < '0' || text_[at_] > '9')) {
            return one(0);
        }
        if (digit && !in_class) return unsupported_here("a reference to a group");
        if (digit || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            return invalid_here(cat("\\", c, " means nothing"));
        }
        --at_;
        return one(utf8::decode(text_, at_));
    }

    Result<Atom> control() {
        if (at_ >= text_.size()) return invalid_here("\\c without a letter");
        const char letter = text_[at_++];
        if ((letter < 'a' || letter > 'z') && (letter < 'A' || letter > 'Z')) {
            return invalid_here("\\c without a letter");
        }
        return Atom{static_cast<char32_t>(letter % 32), {}};
    }

    // Exactly so many hexadecimal digits.
    Result<char32_t> hex(std::size_t digits) {
        char32_t code = 0;
        for (std::size_t i = 0; i < digits; ++i) {
            const char c = at_ < text_.size() ? text_[at_] : ' ';
            if (c >= '0' && c <= '9') {
                code = code * 16 + static_cast<char32_t>(c - '0');
            } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
                code = code * 16 + static_cast<char32_t>(c % 32 + 9);
            } else {
                return invalid_here("an escape with too few hexadecimal digits");
            }
            ++at_;
        }
        return code;
    }

    // A \u escape: four digits, a surrogate pair, or digits in braces.
    Result<char32_t> unicode() {
        char32_t code = 0;
        if (take("{")) {
            const std::size_t end = text_.find('}', at_);
            constexpr std::size_t kMostDigits = 8;
            if (end == std::string_view::npos || end == at_ || end - at_ > kMostDigits) {
                return invalid_here("\\u{ without its digits and }");
            }
            code = TRY(hex(end - at_));
            ++at_;
        } else {
            code = TRY(hex(4));
            if (is_high(code) && take("\\u")) {
                const char32_t low = TRY(hex(4));
                if (!is_low(low)) return invalid_here("half of a surrogate pair");
                return 0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00);
            }
        }
        if (is_high(code) || is_low(code)) return invalid_here("half of a surrogate pair");
        if (code > 0x10FFFF) return invalid_here("a code point above 10FFFF");
        return code;
    }

    // A property in ECMA's spelling, as RE2's.
    Result<Atom> property(bool negated) {
        const std::size_t end = text_.find('}', at_);
        if (!take("{") || end == std::string_view::npos) {
            return invalid_here("\\p without {a property}");
        }
        std::string_view name = text_.substr(at_, end - at_);
        at_ = end + 1;
        for (const std::string_view prefix : {"General_Category=", "gc="}) {
            if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
        }
        if (const auto known = unicode_category(name)) return inside_property(*known, negated);
        if (name == "Any" && !negated) return Atom{std::nullopt, std::string(kAnything)};
        if (name == "ASCII") {
            return Atom{std::nullopt, negated ? "\\x{80}-\\x{10ffff}" : "\\x{0}-\\x{7f}"};
        }
        for (const std::string_view prefix : {"Script=", "sc="}) {
            if (!name.starts_with(prefix)) continue;
            name.remove_prefix(prefix.size());
            const std::string script = cat("\\p{", name, "}");
            if (!RE2(script, RE2::Quiet).ok()) break;
            return inside_property(name, negated);
        }
        return unsupported_here(cat("the property ", name));
    }

    static Atom inside_property(std::string_view name, bool negated) {
        return Atom{std::nullopt, cat(negated ? "\\P{" : "\\p{", name, "}")};
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string out_;
    std::string held_;  // The pattern after the lookahead that is being read.
    Rewritten done_;
    std::vector<Group> groups_;  // The open groups.
    bool repeatable_ = false;    // The last construct can be repeated.
    bool leading_ = true;        // Only ^ and lookaheads so far.
    bool anchored_ = false;      // The first construct was ^.
    bool alternates_ = false;    // A | outside of all groups was read.
};

// The automata of one pattern: the main one and its conditions.
struct Automata {
    struct Part {
        RE2 regex;
        bool holds;
    };
    std::vector<std::unique_ptr<const Part>> parts;

    bool match(std::string_view text) const {
        const re2::StringPiece subject(text.data(), text.size());
        for (const auto& part : parts) {
            const bool found =
                part->regex.Match(subject, 0, text.size(), RE2::UNANCHORED, nullptr, 0);
            if (found != part->holds) return false;
        }
        return true;
    }
};

}  // namespace

// Translates, then compiles every part with a bound on memory.
Result<std::function<bool(std::string_view)>> ecma_pattern(std::string_view pattern) {
    if (pattern.size() > kMaxEcmaBytes) {
        return fail(Errc::out_of_range, "too_large",
                    cat("the pattern has ", pattern.size(), " bytes; at most ", kMaxEcmaBytes),
                    {{"limit", kMaxEcmaBytes}});
    }
    if (!utf8::is_valid(pattern)) {
        return invalid("invalid_regex", "no regular expression: not well-formed UTF-8",
                       {{"offset", 0}});
    }
    Rewritten rewritten = TRY(Rewriter(pattern).rewrite());
    rewritten.conditions.push_back({std::move(rewritten.pattern), true});

    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMaxEcmaMemory);
    auto automata = std::make_shared<Automata>();
    for (const auto& condition : rewritten.conditions) {
        automata->parts.push_back(std::unique_ptr<const Automata::Part>(
            new Automata::Part{RE2(condition.pattern, options), condition.holds}));
        const RE2& regex = automata->parts.back()->regex;
        if (!regex.ok()) {
            return fail(
                Errc::unsupported, "unsupported_regex",
                cat("a regular expression that cannot be run here: ", regex.error(), ": ", pattern),
                {{"offset", 0}});
        }
    }
    return [automata = std::shared_ptr<const Automata>(std::move(automata))](
               std::string_view text) { return automata->match(text); };
}

}  // namespace quire::text
