// Bytes are escaped, not characters: every text survives the round trip, UTF-8 or not. Two readers
// differ in what they take: percent_unescaped() only what its writer makes, so that a name has one
// spelling; the URI ones any escape, because other programs write those.
#include "text/escape.h"

#include "base/hex.h"

namespace quire::text {
namespace {

bool is_reserved(char c, std::string_view reserved) {
    return c == '%' || reserved.find(c) != std::string_view::npos;
}

void append_escape(std::string& out, char c) {
    out += '%';
    append_hex(out, static_cast<std::uint8_t>(c), kUpperHex);
}

// The byte of the escape at the start of `text`; -1 where there is none.
int escape_at(std::string_view text) {
    if (text.size() < 3 || text[0] != '%') return -1;
    const int high = hex_value(text[1]);
    const int low = hex_value(text[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace

std::string percent_escaped(std::string_view text, std::string_view reserved) {
    std::string out;
    for (const char c : text) {
        if (is_reserved(c, reserved)) {
            append_escape(out, c);
        } else {
            out += c;
        }
    }
    return out;
}

// Strict: an escape that percent_escaped() would not have written is refused.
std::optional<std::string> percent_unescaped(std::string_view text, std::string_view reserved) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            if (is_reserved(text[i], reserved)) return std::nullopt;
            out += text[i];
            continue;
        }
        if (text.size() - i < 3) return std::nullopt;
        const std::size_t high = kUpperHex.find(text[i + 1]);
        const std::size_t low = kUpperHex.find(text[i + 2]);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        const char c = static_cast<char>(high * 16 + low);
        if (!is_reserved(c, reserved)) return std::nullopt;
        out += c;
        i += 2;
    }
    return out;
}

std::string percent_encoded(std::string_view text, std::string_view plain) {
    std::string out;
    for (const char c : text) {
        const bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || plain.find(c) != std::string_view::npos;
        if (stays) {
            out += c;
        } else {
            append_escape(out, c);
        }
    }
    return out;
}

std::string percent_decoded_loosely(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int byte = escape_at(text.substr(i));
        out += byte < 0 ? text[i] : static_cast<char>(byte);
        if (byte >= 0) i += 2;
    }
    return out;
}

// Looks for a bad escape first, as the loose reader would keep it.
std::optional<std::string> percent_decoded(std::string_view text) {
    for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
        if (escape_at(text.substr(i)) < 0) return std::nullopt;
    }
    return percent_decoded_loosely(text);
}

}  // namespace quire::text
