// Values as JSON Schema compares them: numbers by what they are worth, objects whatever their
// order. Exact for whatever a Value holds; no comparison goes through a rounding.
#pragma once

#include <compare>
#include <cstdint>

#include "base/value.h"

namespace quire::json::detail {

class Check;

// Both are numbers. Unordered with NaN, which JSON does not have.
std::partial_ordering compare_numbers(const Value& a, const Value& b);

// Whether `number` is a whole multiple of `unit`, which is above 0. A float stands for the shortest
// decimal that reads back as it, which is what was written if that had at most 15 digits: 0.0075 is
// a multiple of 0.0001.
bool is_multiple(const Value& number, const Value& unit);

// Equality. Takes steps for each value looked at; false when they are used up.
bool same(const Value& a, const Value& b, Check& check);

// The same of same values. Takes steps likewise.
std::uint64_t hash_of(const Value& value, Check& check);

}  // namespace quire::json::detail
