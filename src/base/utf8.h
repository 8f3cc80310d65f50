// UTF-8: validation, and conversion between bytes, code points and UTF-16 units.
//
// The rooms above keep text as valid UTF-8: bytes from outside pass find_invalid() or repaired()
// once, where they enter, and everything below requires well-formed text without checking it again.
//
//     code points             bytes
//     U+0000 to U+007F        0xxxxxxx
//     U+0080 to U+07FF        110xxxxx 10xxxxxx
//     U+0800 to U+FFFF        1110xxxx 10xxxxxx 10xxxxxx             no U+D800 to U+DFFF
//     U+10000 to U+10FFFF     11110xxx 10xxxxxx 10xxxxxx 10xxxxxx    two UTF-16 units
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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

// Returns true if every byte is a code point of its own. O(n), eight bytes at a time.
inline bool is_ascii(std::string_view text) {
    constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;
    std::uint64_t all = 0;
    const auto add_word_at = [&](std::size_t at) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, sizeof word);
        all |= word;
    };
    if (text.size() < sizeof all) {
        for (const char byte : text) all |= static_cast<unsigned char>(byte);
    } else {
        for (std::size_t at = 0; at + sizeof all < text.size(); at += sizeof all) add_word_at(at);
        add_word_at(text.size() - sizeof all);  // It may overlap the one before.
    }
    return (all & kHighBits) == 0;
}

// Returns true for a byte that begins a code point. Every byte but the second to fourth of a longer
// sequence does.
inline bool is_boundary(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

// Lengths in other units. Requires well-formed text. O(n). A code point above U+FFFF counts as one
// here and as two UTF-16 units.
std::size_t count_code_points(std::string_view text);
std::size_t count_utf16(std::string_view text);
// The byte offset of code point number `index`; text.size() if there are fewer. O(n).
std::size_t offset_of_code_point(std::string_view text, std::size_t index);

// The code point at byte `offset`, which it moves past. Requires a boundary inside the text. O(1).
char32_t decode(std::string_view text, std::size_t& offset);
// Appends the UTF-8 form of a code point. Requires a code point that UTF-8 can hold: at most
// U+10FFFF and no surrogate.
void append(std::string& out, char32_t code_point);

// The bytes as text: each that is part of no code point becomes U+FFFD. O(n).
std::string repaired(std::string_view bytes);

// The longest prefix of at most `max_code_points`. It ends on a boundary. O(max_code_points).
std::string_view prefix(std::string_view text, std::size_t max_code_points);

}  // namespace quire::utf8
