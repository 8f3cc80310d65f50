// Comparing values as JSON Schema does: numbers by their mathematical value, objects regardless of
// order. Exact for every Value; no comparison rounds.
#pragma once

#include <compare>
#include <cstdint>

#include "base/value.h"

namespace quire::json::detail {

class Check;

// Both must be numbers. Unordered with NaN, which JSON does not have.
std::partial_ordering compare_numbers(const Value& a, const Value& b);

// Returns true if `number` is a whole multiple of `unit`, which is above 0. A float stands for the shortest
// decimal that reads back as it, which is the written one if that had at most 15 digits: 0.0075 is
// a multiple of 0.0001.
bool is_multiple(const Value& number, const Value& unit);

// Equality. Uses a step per value; false when the steps are used up.
bool same(const Value& a, const Value& b, Check& check);

// A hash that is equal for equal values. Uses steps likewise.
std::uint64_t hash_of(const Value& value, Check& check);

}  // namespace quire::json::detail
