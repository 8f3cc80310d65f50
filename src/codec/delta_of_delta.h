// DeltaOfDelta: columns of numbers that mostly grow by equal steps, such as counters and times.
//
//   option of the first value (i64 zigzag), a byte with the number of bits used in
//   the last byte, then bits from the most significant on, a code for each value:
//     0              same difference as before
//     10    +  7     difference of differences, plus 63
//     110   +  9     plus 255
//     1110  + 12     plus 2047
//     11110 + 21     plus 2^20 - 1
//     11111 + 64     as it is
//
// A code is read from the next 57 bits or more at once: their leading ones say which it is, and no
// bit is looked at alone.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "base/varint.h"

namespace quire::codec {

// The codes of DeltaOfDelta but for the shortest and the longest.
struct DeltaCode {
    std::uint8_t prefix;
    std::uint8_t prefix_bits;
    std::uint8_t payload_bits;
    std::int64_t bias;
};
inline constexpr std::array<DeltaCode, 4> kDeltaCodes = {{
    {0b10, 2, 7, 63},
    {0b110, 3, 9, 255},
    {0b1110, 4, 12, 2047},
    {0b11110, 5, 21, (1 << 20) - 1},
}};

// Bits, the most significant first. Behind the end of the bytes there are zeros, so a reader asks
// only once whether it went too far.
class BitReader {
public:
    explicit BitReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    // The next code of DeltaOfDelta: a difference of differences.
    [[gnu::always_inline]] std::uint64_t next_code() {
        const std::uint64_t ahead = peek();
        const auto ones = static_cast<unsigned>(std::countl_one(ahead));
        if (ones == 0) {
            ++at_;
            return 0;
        }
        if (ones > kDeltaCodes.size()) return next_long_code();
        const DeltaCode& code = kDeltaCodes[ones - 1];
        at_ += code.prefix_bits + code.payload_bits;
        return (ahead << code.prefix_bits >> (64U - code.payload_bits)) -
               static_cast<std::uint64_t>(code.bias);
    }
    // The bytes of which at least a bit was read; more than there are if that went too far.
    std::size_t bytes_read() const { return (at_ + 7) / 8; }

private:
    // The next bits, 57 of them at least.
    std::uint64_t peek() const {
        const std::size_t byte = at_ / 8;
        std::uint64_t word = 0;
        if (byte + sizeof word <= bytes_.size()) {
            std::memcpy(&word, bytes_.data() + byte, sizeof word);
            if constexpr (std::endian::native == std::endian::little)
                word = __builtin_bswap64(word);
        } else {
            word = peek_at_end(byte);
        }
        return word << (at_ % 8);
    }
    std::uint64_t peek_at_end(std::size_t byte) const;
    std::uint64_t next_long_code();

    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;  // In bits.
};

// Reads a column of `count` values, which ends at a byte's border, and calls take(value) for each. A
// failure may come after the last call, so that values are to be judged by the reader's ok().
template <class Take>
void read_delta_of_delta(ByteReader& in, std::size_t count, const char* what, Take take) {
    const std::uint8_t present = in.byte(what);
    if (present > 1 || (present == 1) != (count > 0)) in.fail(what);
    // Arithmetic wraps: timestamps may be any i64.
    std::uint64_t value = 0;
    std::uint64_t delta = 0;
    if (present == 1) value = static_cast<std::uint64_t>(read_zigzag(in, what));
    if (in.byte(what) > 8) in.fail(what);
    if (!in.ok() || count == 0) return;
    BitReader bits(in.ahead());
    take(static_cast<std::int64_t>(value));
    for (std::size_t i = 1; i < count; ++i) {
        delta += bits.next_code();
        value += delta;
        take(static_cast<std::int64_t>(value));
    }
    in.take(bits.bytes_read(), what);
}

}  // namespace quire::codec
