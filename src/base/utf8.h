// UTF-8: validation, and conversion between bytes, code points and UTF-16 units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quire::utf8 {

// The offset of the first byte that is not part of well-formed UTF-8 (RFC 3629: no surrogates, no
// overlong forms, at most U+10FFFF); none if all of it is. O(n), ASCII eight bytes at a time.
std::optional<std::size_t> find_invalid(std::string_view bytes);
inline bool is_valid(std::string_view bytes) {
    return !find_invalid(bytes).has_value();
}

// Returns true for a byte that begins a code point.
inline bool is_boundary(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

// Lengths in other units. Requires well-formed text. O(n).
std::size_t count_code_points(std::string_view text);
std::size_t count_utf16(std::string_view text);
// The byte offset of code point number `index`; text.size() if there are fewer. O(n).
std::size_t offset_of_code_point(std::string_view text, std::size_t index);

// The code point at byte `offset`, which it moves past. Requires a boundary inside the text.
char32_t decode(std::string_view text, std::size_t& offset);
// Appends the UTF-8 form of a code point.
void append(std::string& out, char32_t code_point);

// The bytes as text: each that is part of no code point becomes U+FFFD. O(n).
std::string repaired(std::string_view bytes);

// The longest prefix of at most `max_code_points`.
std::string_view prefix(std::string_view text, std::size_t max_code_points);

}  // namespace quire::utf8
