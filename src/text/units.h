// Positions in text carry their unit, so that bytes and lines cannot be mixed.
#pragma once

#include <compare>
#include <cstddef>
#include <string>

namespace quire::text {

// An offset or a length in one unit. Arithmetic stays within the unit; `n` is the plain number.
template <class Tag>
struct Unit {
    std::size_t n = 0;

    constexpr auto operator<=>(const Unit&) const = default;
    constexpr Unit& operator+=(Unit other) {
        n += other.n;
        return *this;
    }
    constexpr Unit& operator-=(Unit other) {
        n -= other.n;
        return *this;
    }
    friend constexpr Unit operator+(Unit a, Unit b) { return {a.n + b.n}; }
    friend constexpr Unit operator-(Unit a, Unit b) { return {a.n - b.n}; }
};

using Byte = Unit<struct ByteTag>;            // UTF-8 code units.
using CodePoint = Unit<struct CodePointTag>;  // Unicode scalar values.
using Utf16 = Unit<struct Utf16Tag>;          // UTF-16 code units.
using Line = Unit<struct LineTag>;            // Lines, 0-based.

// Half-open: {2, 4} is the third and the fourth line.
struct LineRange {
    Line begin;
    Line end;
    friend bool operator==(const LineRange&, const LineRange&) = default;
};

// Replaces `erase` bytes at `at` with `insert`.
struct Splice {
    Byte at;
    Byte erase;
    std::string insert;
    friend bool operator==(const Splice&, const Splice&) = default;
};

}  // namespace quire::text
