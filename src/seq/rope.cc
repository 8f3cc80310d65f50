// The one instance of BasicRope that the product uses, and counting. Leaves hold 1024 bytes and
// nodes 16 children. Counting text is part of every edit and load, so it goes over eight bytes of
// ASCII at a time.
#include <cstring>

#include "base/utf8.h"
#include "seq/rope_impl.h"

namespace quire::seq {

namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
constexpr std::uint64_t kHighBits = 0x80 * kOnes;

// The number of newlines in eight ASCII bytes: XOR with '\n' makes them zero. The product adds the
// eight bits up; counting bits would be a call where the processor is not known to do so.
std::size_t newlines_in(std::uint64_t ascii) {
    const std::uint64_t other = ascii ^ (static_cast<std::uint64_t>('\n') * kOnes);
    const std::uint64_t marks = ~(other + 0x7F * kOnes) & kHighBits;
    return static_cast<std::size_t>(((marks >> 7) * kOnes) >> 56);
}

}  // namespace

// Counts all four units in one pass.
TextSummary TextSummary::of(std::string_view text) {
    if (text.size() == 1) return {1, 1, 1, text[0] == '\n' ? 1U : 0U};
    TextSummary sum;
    sum.bytes = text.size();
    // Most text is ASCII, so count eight bytes at a time as far as possible.
    std::size_t ascii = 0;
    for (; ascii + 8 <= text.size(); ascii += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + ascii, sizeof word);
        if ((word & kHighBits) != 0) break;
        sum.newlines += newlines_in(word);
    }
    sum.code_points = ascii;
    for (const char byte : text.substr(ascii)) {
        sum.code_points += utf8::is_boundary(byte) ? 1 : 0;
        sum.utf16 += static_cast<unsigned char>(byte) >= 0xF0 ? 1 : 0;
        sum.newlines += byte == '\n' ? 1 : 0;
    }
    sum.utf16 += sum.code_points;
    return sum;
}

template class BasicRope<1024, 16>;

}  // namespace quire::seq
