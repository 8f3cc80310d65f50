// The parser has no recursion: open arrays and objects are kept on an explicit stack, so the depth
// is bounded by a limit and not by the thread's stack. It costs O(n), and O(k log k) more for an
// object of k keys if there are more than a few, since a repeated key must be found: its last value
// wins.
//
// The text is checked to be UTF-8 as a whole before the first byte is read. After that a string can
// be copied in runs up to the next quote, backslash or control character.
//
// run() alternates between two states. At the beginning of a value it reads a scalar, or opens a
// frame and begins with the first value inside. When a value is complete it goes into the frame
// around it, and a closing bracket makes that frame the next complete value:
//
//      [1, {"a": 2}]     open [ ─ 1 done ─ open { ─ key a ─ 2 done ─ close } ─ close ] ─ end
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/concat.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "json/json.h"

namespace quire::json {
namespace {

// An array or object that is open around the place that is being read.
struct Frame {
    explicit Frame(bool map) : is_map(map) {}
    bool is_map;
    List items;
    Map members;
    std::string key;  // The key of the member whose value comes next.
};

// A repeated key keeps the place of its first and the value of its last. Few keys are compared pair
// by pair without memory of its own. Many are sorted by their indices, stably, so that of equal
// keys the first and the last are known.
Map without_repeats(Map members) {
    constexpr std::size_t kFewKeys = 8;
    const std::size_t size = members.size();
    const auto begin = members.begin();
    const auto key = [&](std::size_t i) -> const std::string& {
        return begin[static_cast<std::ptrdiff_t>(i)].key;
    };

    if (size <= kFewKeys) {
        bool repeats = false;
        for (std::size_t i = 1; i < size && !repeats; ++i) {
            for (std::size_t j = 0; j < i && !repeats; ++j) repeats = key(i) == key(j);
        }
        if (!repeats) return members;
    }

    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::vector<std::size_t> last(size);  // For the first of each key, where its last is.
    std::vector<bool> repeated(size, false);
    bool any = false;
    for (std::size_t i = 0; i < size;) {
        std::size_t j = i + 1;
        while (j < size && key(order[j]) == key(order[i])) repeated[order[j++]] = any = true;
        last[order[i]] = order[j - 1];
        i = j;
    }
    if (!any) return members;

    Map kept;
    for (std::size_t i = 0; i < size; ++i) {
        if (repeated[i]) continue;
        Value& value = begin[static_cast<std::ptrdiff_t>(last[i])].value;
        kept.append(key(i), std::move(value));
    }
    return kept;
}

// The decimal exponent of a number that is not zero: 1 for 3.5, 0 for 0.35, 3 for 350. An exponent
// may itself have more digits than an integer holds; it is then as large as anything.
std::int64_t magnitude(std::string_view number) {
    const std::size_t mark = number.find_first_of("eE");
    const std::string_view mantissa = number.substr(0, mark);
    const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
    const auto first = static_cast<std::int64_t>(mantissa.find_first_of("123456789"));
    const std::int64_t shift = point > first ? point - first : point - first + 1;
    if (mark == std::string_view::npos) return shift;

    std::string_view exponent = number.substr(mark + 1);
    if (exponent.front() == '+') exponent.remove_prefix(1);
    constexpr std::int64_t kBeyond = 1'000'000'000'000;  // More than any text has digits.
    std::int64_t power = 0;
    const auto error =
        std::from_chars(exponent.data(), exponent.data() + exponent.size(), power).ec;
    if (error != std::errc()) power = exponent.front() == '-' ? -kBeyond : kBeyond;
    return shift + std::clamp(power, -kBeyond, kBeyond);
}

class Parser {
public:
    Parser(std::string_view text, ParseLimits limits) : text_(text), limits_(limits) {}

    Result<Value> run();

private:
    bool at_end() const { return at_ == text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[at_]; }
    void skip_blanks() {
        while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' ||
                             text_[at_] == '\t')) {
            ++at_;
        }
    }
    Failure wrong(std::string_view expected) const;

    Result<void> open(bool map);
    Value close();
    // The next member's key and its colon.
    Result<void> key();
    Result<Value> scalar();
    Result<Value> word(std::string_view spelling, Value value);
    Result<Value> number();
    Result<Value> floating(std::string_view digits);
    Result<std::string> string();
    Result<void> escape(std::string& out);
    Result<std::uint32_t> four_hex_digits();

    std::string_view text_;
    ParseLimits limits_;
    std::size_t at_ = 0;
    std::vector<Frame> open_;
};

// The message tells what would have been right, and the byte where the text stopped being JSON.
Failure Parser::wrong(std::string_view expected) const {
    return invalid(
        "invalid_json",
        cat("not JSON: ", expected, at_end() ? ", but the text ends" : "", " at byte ", at_),
        {{"offset", at_}});
}

Result<void> Parser::open(bool map) {
    if (open_.size() == limits_.depth) {
        return fail(Errc::out_of_range, "too_deep",
                    cat("the JSON nests deeper than ", limits_.depth, " levels at byte ", at_),
                    {{"limit", limits_.depth}, {"offset", at_}});
    }
    ++at_;
    open_.emplace_back(map);
    return {};
}

// Takes the innermost frame, whose bracket is at the place, off the stack as a value.
Value Parser::close() {
    ++at_;
    Frame frame = std::move(open_.back());
    open_.pop_back();
    if (frame.is_map) return without_repeats(std::move(frame.members));
    return std::move(frame.items);
}

Result<void> Parser::key() {
    skip_blanks();
    if (peek() != '"') return wrong("a key in double quotes was expected");
    open_.back().key = TRY(string());
    skip_blanks();
    if (peek() != ':') return wrong("a colon was expected after the key");
    ++at_;
    return {};
}

Result<Value> Parser::run() {
    for (;;) {
        // A value begins here.
        skip_blanks();
        Value value;
        const char first = peek();
        if (first == '[' || first == '{') {
            const bool map = first == '{';
            TRY(open(map));
            skip_blanks();
            if (peek() != (map ? '}' : ']')) {
                if (map) TRY(key());
                continue;
            }
            value = close();
        } else {
            value = TRY(scalar());
        }

        // It is complete: hand it to what is open, closing all that ends with it.
        for (;;) {
            skip_blanks();
            if (open_.empty()) {
                if (!at_end()) return wrong("nothing more was expected after the value");
                return value;
            }
            Frame& frame = open_.back();
            if (frame.is_map) {
                frame.members.append(std::move(frame.key), std::move(value));
            } else {
                frame.items.push_back(std::move(value));
            }
            if (peek() == ',') {
                ++at_;
                if (frame.is_map) TRY(key());
                break;
            }
            if (peek() != (frame.is_map ? '}' : ']')) {
                return wrong(frame.is_map ? "a comma or } was expected"
                                          : "a comma or ] was expected");
            }
            value = close();
        }
    }
}

Result<Value> Parser::scalar() {
    switch (peek()) {
        case '"':
            return Value(TRY(string()));
        case 't':
            return word("true", true);
        case 'f':
            return word("false", false);
        case 'n':
            return word("null", nullptr);
        default:
            return number();
    }
}

Result<Value> Parser::word(std::string_view spelling, Value value) {
    if (text_.substr(at_, spelling.size()) != spelling) return wrong("a value was expected");
    at_ += spelling.size();
    return value;
}

// Returns true if a double holds this integer, in its decimal digits or, below 10^21, as JavaScript
// writes it: the fewest digits that read back as the same double, then zeros. Both spellings are
// what programs send that have no integers of their own. Any other integer of that size was meant
// exactly, and a double would silently be another number.
bool is_held_by_a_double(std::string_view integer) {
    constexpr std::size_t kLongest = 512;  // More than a double has digits before the point.
    constexpr double kJavaScriptWritesDigits = 1e21;
    double value = 0;
    const auto [end, error] =
        std::from_chars(integer.data(), integer.data() + integer.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return false;
    char digits[kLongest];
    const auto exact = std::to_chars(digits, digits + kLongest, value, std::chars_format::fixed, 0);
    if (integer == std::string_view(digits, exact.ptr)) return true;
    if (std::abs(value) >= kJavaScriptWritesDigits) return false;
    const auto shortest =
        std::to_chars(digits, digits + kLongest, value, std::chars_format::scientific);
    std::string fewest(digits, std::find(digits, shortest.ptr, 'e'));
    std::erase(fewest, '.');
    if (fewest.size() > integer.size()) return false;
    fewest.resize(integer.size(), '0');
    return integer == fewest;
}

// RFC 8259's grammar is checked by hand, because from_chars() accepts more and less than it. A
// number with a point or an exponent is a float even if it is whole, and an integer beyond 64 bits
// becomes one, unless the caller asks for exact integers.
Result<Value> Parser::number() {
    const std::size_t begin = at_;
    const auto digit = [&] { return peek() >= '0' && peek() <= '9'; };
    const auto digits = [&] {
        while (digit()) ++at_;
    };

    if (peek() == '-') ++at_;
    if (!digit()) return wrong(at_ == begin ? "a value was expected" : "a digit was expected");
    if (peek() == '0') {
        ++at_;
        if (digit()) return wrong("no digit may follow a leading 0");
    }
    digits();
    bool integral = true;
    if (peek() == '.') {
        integral = false;
        ++at_;
        if (!digit()) return wrong("a digit was expected after the point");
        digits();
    }
    if (peek() == 'e' || peek() == 'E') {
        integral = false;
        ++at_;
        if (peek() == '+' || peek() == '-') ++at_;
        if (!digit()) return wrong("a digit was expected in the exponent");
        digits();
    }

    const std::string_view spelled = text_.substr(begin, at_ - begin);
    if (integral) {
        std::int64_t value = 0;
        const auto [end, error] =
            std::from_chars(spelled.data(), spelled.data() + spelled.size(), value);
        if (error == std::errc()) return Value(value);
        if (limits_.exact_integers && !is_held_by_a_double(spelled)) {
            return invalid("inexact_number",
                           cat("the integer at byte ", begin,
                               " does not fit 64 bits and would become another number; write it "
                               "as a string"),
                           {{"offset", begin}});
        }
    }
    return floating(spelled);
}

// from_chars() says of a number that is out of range only that it is, and not on which side.
Result<Value> Parser::floating(std::string_view digits) {
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && std::isfinite(value)) return Value(value);

    // Beyond a double: what is too small reads as zero, what is too large has no value.
    if (magnitude(digits) <= 0) return Value(digits.front() == '-' ? -0.0 : 0.0);
    at_ -= digits.size();
    return wrong("a number that fits a double was expected");
}

Result<std::string> Parser::string() {
    ++at_;
    std::string out;
    for (;;) {
        const std::size_t begin = at_;
        while (!at_end() && text_[at_] != '"' && text_[at_] != '\\' &&
               static_cast<unsigned char>(text_[at_]) >= 0x20) {
            ++at_;
        }
        out.append(text_, begin, at_ - begin);
        if (at_end()) return wrong("a closing double quote was expected");
        if (text_[at_] == '"') {
            ++at_;
            return out;
        }
        if (text_[at_] != '\\') return wrong("a control character in a string must be escaped");
        TRY(escape(out));
    }
}

// From the backslash; leaves the place after the escape. A character above U+FFFF comes as two
// escapes, a high surrogate and a low one. One without the other stands for no character and has no
// UTF-8, so it is refused rather than replaced.
Result<void> Parser::escape(std::string& out) {
    ++at_;
    const char what = peek();
    switch (what) {
        case '"':
        case '\\':
        case '/':
            out.push_back(what);
            break;
        case 'b':
            out.push_back('\b');
            break;
        case 'f':
            out.push_back('\f');
            break;
        case 'n':
            out.push_back('\n');
            break;
        case 'r':
            out.push_back('\r');
            break;
        case 't':
            out.push_back('\t');
            break;
        case 'u': {
            const std::size_t begin = at_ - 1;
            const std::uint32_t unit = TRY(four_hex_digits());
            std::uint32_t code_point = unit;
            bool lone = unit >= 0xDC00 && unit <= 0xDFFF;
            if (unit >= 0xD800 && unit <= 0xDBFF) {
                lone = text_.substr(at_ + 1, 2) != "\\u";
                if (!lone) {
                    at_ += 2;
                    const std::uint32_t low = TRY(four_hex_digits());
                    lone = low < 0xDC00 || low > 0xDFFF;
                    code_point = 0x10000 + ((unit - 0xD800) << 10U) + (low - 0xDC00);
                }
            }
            if (lone) {
                at_ = begin;
                return wrong("a surrogate needs its other half");
            }
            utf8::append(out, code_point);
            break;
        }
        default:
            return wrong("one of \" \\ / b f n r t u was expected after a backslash");
    }
    ++at_;
    return {};
}

// From the u; leaves the last digit as the place.
Result<std::uint32_t> Parser::four_hex_digits() {
    std::uint32_t unit = 0;
    for (int i = 0; i < 4; ++i) {
        ++at_;
        const int digit = hex_value(peek());
        if (digit < 0) return wrong("four hexadecimal digits were expected after \\u");
        unit = unit << 4U | static_cast<std::uint32_t>(digit);
    }
    return unit;
}

}  // namespace

Result<Value> parse(std::string_view text, ParseLimits limits) {
    if (text.size() > limits.bytes) {
        return fail(Errc::out_of_range, "too_large",
                    cat("the JSON has ", text.size(), " bytes; the limit is ", limits.bytes),
                    {{"limit", limits.bytes}});
    }
    if (const auto bad = utf8::find_invalid(text)) {
        return invalid("invalid_json", cat("not JSON: invalid UTF-8 at byte ", *bad),
                       {{"offset", *bad}});
    }
    return Parser(text, limits).run();
}

}  // namespace quire::json
