// Text to Value and back. Integers are exact, keys keep their order, and errors name the place.
//
// Everything that enters as JSON passes parse(), so its limits are what protects the rest of the
// program from deep or huge input. It does not recurse on its input. Writing recurses once for each
// level of a value, which parse() has bounded. All functions are pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/value.h"

namespace quire::json {

// Bounds that a caller sets on input it does not trust.
struct ParseLimits {
    // The most arrays and objects that may be open at once.
    std::size_t depth = 128;
    // The most bytes of input. A Value takes several times as much memory as its text.
    std::size_t bytes = 64U << 20;
    // True if an integer that neither 64 bits nor a double hold is an error instead of another
    // number. As JavaScript writes a double, 9223372036854776000 for 2^63, it is one that it holds.
    bool exact_integers = false;
};

// Reads one JSON value with nothing but blanks around it. An integer that fits is an i64; any other
// number is an f64. The last of several equal keys wins. O(n), and O(k log k) more for an object of
// k keys, unless they are few.
//
// Errors, each with the offset or limit in its details: invalid_argument "invalid_json" {offset},
// "inexact_number" {offset}; out_of_range "too_deep" {limit}, "too_large" {limit}.
Result<Value> parse(std::string_view text, ParseLimits limits = {});

// Compact JSON on one line. Keys keep their order. Floats have a fraction or an exponent, so that
// they read back as floats; NaN and the infinities are written as null, bytes as {"$bytes":
// "base64"}. Text that is not valid UTF-8 gets U+FFFD. O(output).
std::string write(const Value& value);
// Appends a value, or a string, as write() spells it.
void append(std::string& out, const Value& value);
void append_string(std::string& out, std::string_view text);
// Like write(), but indented, for people.
std::string write_pretty(const Value& value);

// Base64 with padding (RFC 4648, section 4).
std::string base64(std::string_view bytes);
// The bytes of a padded base64 text in its one spelling. Errors: invalid_argument
// "invalid_base64" {offset}.
Result<Bytes> from_base64(std::string_view text);

}  // namespace quire::json
