// Rope: UTF-8 text that can be edited anywhere and addressed in bytes, code points, UTF-16 units and
// lines, all in O(log n).
//
// A line is the bytes up to and including '\n'; "\r\n" is one terminator, a lone '\r' is text; a last
// segment without a terminator is a line. line_count("") = 0, "a" = 1, "a\n" = 1, "a\n\n" = 2.
//
// Copying is O(1) and gives an immutable snapshot that another thread may read while this one is
// edited. Thread-confined otherwise.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/function.h"
#include "text/units.h"

namespace quire::seq {

class Rope {
public:
    Rope();
    explicit Rope(std::string_view text);  // Requires well-formed UTF-8, as does insert(). O(n).
    Rope(const Rope&);
    Rope(Rope&&) noexcept;
    Rope& operator=(const Rope&);
    Rope& operator=(Rope&&) noexcept;
    ~Rope();

    text::Byte bytes() const;
    text::CodePoint code_points() const;
    text::Utf16 utf16() const;
    text::Line lines() const;         // line_count, as above.
    bool empty() const { return bytes().n == 0; }
    bool ends_with_newline() const;   // False for "".
    std::size_t newlines() const;     // How many '\n'.
    std::size_t crlfs() const;        // How many of them follow a '\r'. O(n) is allowed.

    // Positions at the end are allowed; beyond it, or inside a code point for splice(), is a broken
    // promise of the caller's. Conversions round down to the start of the code point they fall into.
    void insert(text::CodePoint at, std::string_view utf8);
    void erase(text::CodePoint at, text::CodePoint count);
    void splice(text::Byte at, text::Byte erase, std::string_view insert);

    bool is_boundary(text::Byte at) const;
    text::Byte to_byte(text::CodePoint at) const;
    text::Byte to_byte(text::Utf16 at) const;
    text::CodePoint to_code_point(text::Byte at) const;
    text::Utf16 to_utf16(text::Byte at) const;
    text::Line to_line(text::Byte at) const;     // The line that holds the byte (or ends at the end).
    // Where line `line` begins; bytes() for lines() and beyond.
    text::Byte line_start(text::Line line) const;

    std::string str() const;
    std::string slice(text::Byte begin, text::Byte end) const;
    std::string line(text::Line line) const;     // With its terminator.
    // The chunks of [begin, end) in order; views are valid until the rope changes. `take` returns false to stop.
    void for_each_chunk(text::Byte begin, text::Byte end, Function<bool(std::string_view)> take) const;

    // CHECKs every structural promise. O(n).
    void check_invariants() const;

    friend bool operator==(const Rope& a, const Rope& b) { return a.str() == b.str(); }

private:
    std::string text_;
};

}  // namespace quire::seq
