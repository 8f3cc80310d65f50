// Validation and counting by lead bytes (RFC 3629; the table of The Unicode Standard, section 3.9).
//
// Most text is ASCII, so find_invalid() and offset_of_code_point() test eight bytes at once: no
// high bit in the word means eight code points of one byte each. Everything else goes byte by byte
// and relies on the bytes being valid, apart from find_invalid() and repaired(), which take any
// bytes.
#include "base/utf8.h"

#include <cstring>

namespace quire::utf8 {

namespace {

// The high bit of each of eight bytes, in either byte order.
constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;

std::uint64_t load8(const char* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// The length of the well-formed sequence at `at`, or 0. The second byte of some leads has a
// narrower range, which keeps out overlong forms (after E0 and F0), surrogates (ED) and code points
// above U+10FFFF (F4). C0, C1 and F5 to FF lead nothing.
std::size_t sequence_length(const unsigned char* at, std::size_t left) {
    const auto tail = [&](std::size_t i) { return i < left && (at[i] & 0xC0) == 0x80; };
    const unsigned char lead = at[0];
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        if (!tail(1) || !tail(2)) return 0;
        if (lead == 0xE0 && at[1] < 0xA0) return 0;
        if (lead == 0xED && at[1] > 0x9F) return 0;
        return 3;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        if (!tail(1) || !tail(2) || !tail(3)) return 0;
        if (lead == 0xF0 && at[1] < 0x90) return 0;
        if (lead == 0xF4 && at[1] > 0x8F) return 0;
        return 4;
    }
    return 0;
}

}  // namespace

std::optional<std::size_t> find_invalid(std::string_view bytes) {
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    std::size_t i = 0;
    while (i < bytes.size()) {
        if (i + 8 <= bytes.size() && (load8(bytes.data() + i) & kHighBits) == 0) {
            i += 8;
            continue;
        }
        const std::size_t length = sequence_length(data + i, bytes.size() - i);
        if (length == 0) return i;
        i += length;
    }
    return std::nullopt;
}

std::size_t count_code_points(std::string_view text) {
    std::size_t count = 0;
    for (const char byte : text) count += is_boundary(byte) ? 1 : 0;
    return count;
}

std::size_t count_utf16(std::string_view text) {
    std::size_t count = 0;
    for (const char byte : text) {
        count += is_boundary(byte) ? 1 : 0;
        // A lead of four bytes is a code point above U+FFFF, which takes two UTF-16 units.
        count += static_cast<unsigned char>(byte) >= 0xF0 ? 1 : 0;
    }
    return count;
}

std::size_t offset_of_code_point(std::string_view text, std::size_t index) {
    std::size_t i = 0;
    while (i < text.size()) {
        // The jump stops eight short of the wanted one, so that it never passes it.
        if (index >= 8 && i + 8 <= text.size() && (load8(text.data() + i) & kHighBits) == 0) {
            i += 8;
            index -= 8;
            continue;
        }
        if (is_boundary(text[i])) {
            if (index == 0) return i;
            --index;
        }
        ++i;
    }
    return text.size();
}

char32_t decode(std::string_view text, std::size_t& offset) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) {
        offset += 1;
        return lead;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    char32_t code_point = lead & (0xFFU >> (length + 1));
    // The bound holds for well-formed text anyway; it keeps a cut sequence from reading beyond the
    // view.
    for (std::size_t i = 1; i < length && offset + i < text.size(); ++i) {
        code_point = (code_point << 6) | (byte(i) & 0x3FU);
    }
    offset += length;
    return code_point;
}

void append(std::string& out, char32_t code_point) {
    const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xC0 | (code_point >> 6));
        put(0x80 | (code_point & 0x3F));
    } else if (code_point < 0x10000) {
        put(0xE0 | (code_point >> 12));
        put(0x80 | ((code_point >> 6) & 0x3F));
        put(0x80 | (code_point & 0x3F));
    } else {
        put(0xF0 | (code_point >> 18));
        put(0x80 | ((code_point >> 12) & 0x3F));
        put(0x80 | ((code_point >> 6) & 0x3F));
        put(0x80 | (code_point & 0x3F));
    }
}

std::string_view prefix(std::string_view text, std::size_t max_code_points) {
    return text.substr(0, offset_of_code_point(text, max_code_points));
}

std::string repaired(std::string_view bytes) {
    std::string out;
    while (const std::optional<std::size_t> bad = find_invalid(bytes)) {
        out.append(bytes.substr(0, *bad));
        append(out, U'\uFFFD');
        // One byte is replaced at a time, so every bad byte becomes a U+FFFD of its own.
        bytes.remove_prefix(*bad + 1);
    }
    return out.append(bytes);
}

}  // namespace quire::utf8
