// Text to Value and back. Integers are exact, keys keep their order, errors name the place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/value.h"

namespace quire::json {

struct ParseLimits {
    std::size_t depth = 128;
    std::size_t bytes = 64U << 20;
    bool exact_integers = false;  // One that does not fit 64 bits is an error, not a float.
};

// One JSON value with nothing but blanks around it. An integer that fits is an i64; any other
// number an f64. Of a repeated key the last wins. Errors: invalid_argument "invalid_json" {offset};
// "inexact_number" {offset};
// out_of_range "too_deep" {limit}, "too_large" {limit}. Never recurses on its input. O(n).
Result<Value> parse(std::string_view text, ParseLimits limits = {});

// Compact, keys in their order, floats with a fraction or exponent so that they read back as floats
// (NaN and the infinities as null), bytes as {"$bytes": "base64"}. Text that is not valid UTF-8
// gets U+FFFD.
std::string write(const Value& value);
std::string write_pretty(const Value& value);

std::string base64(std::string_view bytes);
Result<Bytes> from_base64(std::string_view text);

}  // namespace quire::json
