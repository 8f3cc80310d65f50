// Bytes as hexadecimal digits, and back.
//
// Ids, hashes and fractional indexes are shown so. Writing is in lower case unless the digits are
// given; reading takes either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/value.h"

namespace quire {

inline constexpr std::string_view kLowerHex = "0123456789abcdef";
inline constexpr std::string_view kUpperHex = "0123456789ABCDEF";

// Appends the two digits of a byte.
inline void append_hex(std::string& out, std::uint8_t byte, std::string_view digits = kLowerHex) {
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
}

// Two digits for each byte. O(n), one allocation.
inline std::string to_hex(std::span<const std::uint8_t> bytes,
                          std::string_view digits = kLowerHex) {
    std::string out;
    out.reserve(2 * bytes.size());
    for (const std::uint8_t byte : bytes) append_hex(out, byte, digits);
    return out;
}

// A number in lower case, with zeros in front up to `width` digits. The most significant digit is
// first. `width` is the least number of digits; a larger number takes more.
inline std::string hex_number(std::uint64_t number, std::size_t width = 1) {
    std::string out;
    for (; number != 0 || out.size() < width; number >>= 4U)
        out.insert(out.begin(), kLowerHex[number & 15U]);
    return out;
}

// The value of a digit in either case; -1 for any other character.
constexpr int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// The bytes of a text of hexadecimal pairs, in either case; none for any other text. The empty text
// is no bytes, which is a good answer.
inline std::optional<Bytes> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) return std::nullopt;
    Bytes bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = hex_value(text[i]);
        const int low = hex_value(text[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes.push_back(static_cast<std::uint8_t>(high << 4 | low));
    }
    return bytes;
}

// The names of files are bytes, and JSON has text: in stored records they are written as digits. A
// name that is no UTF-8 would not survive the way through JSON.
inline void name_to_hex(std::string& name) {
    name = to_hex(as_bytes(name));
}
// Returns false, and leaves the text, if it is no name that was written so.
inline bool name_from_hex(std::string& text) {
    const auto bytes = from_hex(text);
    if (bytes) text.assign(bytes->begin(), bytes->end());
    return bytes.has_value();
}

}  // namespace quire
