#include "text/escape.h"

namespace quire::text {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

bool is_reserved(char c, std::string_view reserved) {
    return c == '%' || reserved.find(c) != std::string_view::npos;
}

}  // namespace

std::string percent_escaped(std::string_view text, std::string_view reserved) {
    std::string out;
    for (const char c : text) {
        if (is_reserved(c, reserved)) {
            const auto byte = static_cast<unsigned char>(c);
            out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
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
        const std::size_t high = kHex.find(text[i + 1]);
        const std::size_t low = kHex.find(text[i + 2]);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        const char c = static_cast<char>(high * 16 + low);
        if (!is_reserved(c, reserved)) return std::nullopt;
        out += c;
        i += 2;
    }
    return out;
}

}  // namespace quire::text
