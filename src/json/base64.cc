// Base64 as RFC 4648, section 4, has it: three bytes are four digits, and '=' fills the last group.
// Reading is strict. Blanks, digits of the URL alphabet and missing padding are refused, and each
// byte sequence has one spelling, so two texts are equal exactly if their bytes are. O(text).

#include <array>
#include <cstdint>

#include "base/concat.h"
#include "json/json.h"

namespace quire::json {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 255;

// The value of each digit by its byte, made by the compiler.
constexpr std::array<std::uint8_t, 256> make_digits() {
    std::array<std::uint8_t, 256> digits{};
    for (auto& digit : digits) digit = kNoDigit;
    for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
        digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
    }
    return digits;
}
constexpr std::array<std::uint8_t, 256> kDigits = make_digits();

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
}

}  // namespace

std::string base64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::uint32_t group =
            byte_at(bytes, i) << 16U | byte_at(bytes, i + 1) << 8U | byte_at(bytes, i + 2);
        out.push_back(kAlphabet[group >> 18U]);
        out.push_back(kAlphabet[group >> 12U & 63U]);
        out.push_back(i + 1 < bytes.size() ? kAlphabet[group >> 6U & 63U] : '=');
        out.push_back(i + 2 < bytes.size() ? kAlphabet[group & 63U] : '=');
    }
    return out;
}

Result<Bytes> from_base64(std::string_view text) {
    const auto wrong = [](std::size_t offset) {
        return invalid("invalid_base64", cat("not base64 (RFC 4648, padded) at byte ", offset),
                       {{"offset", offset}});
    };
    if (text.size() % 4 != 0) return wrong(text.size());
    // At most two '=' are padding. A third is no digit, and is found as such below.
    std::size_t padding = 0;
    while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=')
        ++padding;

    Bytes out;
    out.reserve(text.size() / 4 * 3);
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (std::size_t i = 0; i < text.size() - padding; ++i) {
        const std::uint8_t digit = kDigits[static_cast<unsigned char>(text[i])];
        if (digit == kNoDigit) return wrong(i);
        bits = bits << 6U | digit;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out.push_back(static_cast<std::uint8_t>(bits >> held & 0xFFU));
        }
    }
    // Bits beyond the last byte must be zero, so that each value has one spelling.
    if ((bits & ((1U << held) - 1U)) != 0) return wrong(text.size() - padding - 1);
    return out;
}

}  // namespace quire::json
