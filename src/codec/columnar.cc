// Run-length columns: a run is a count and a cell, and a negative count is that many cells as they
// stand. Writers choose runs as Loro's do, so that what was read is written again byte for byte.
//
//     delta of delta, the change of the step between values:
//       0                  no change
//       10     7 bits      -63 .. 64
//       110    9 bits      -255 .. 256
//       1110   12 bits     -2047 .. 2048
//       11110  21 bits     up to about a million either way
//       11111  64 bits     any
#include "codec/columnar.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace quire::codec {
namespace {

struct Code {
    std::uint8_t prefix;
    std::uint8_t prefix_bits;
    std::uint8_t payload_bits;
    std::int64_t bias;
};
constexpr std::array<Code, 4> kShortCodes = {{
    {0b10, 2, 7, 63},
    {0b110, 3, 9, 255},
    {0b1110, 4, 12, 2047},
    {0b11110, 5, 21, (1 << 20) - 1},
}};

}  // namespace

// A section's size stands in front of it and is known at its end only. One byte was left for it,
// which is enough for most; a longer size moves the section, O(its bytes).
Section::~Section() {
    const std::size_t begin = at_ + 1;
    const std::size_t size = out_.size() - begin;
    if (size < 0x80) {
        out_[at_] = static_cast<std::uint8_t>(size);
        return;
    }
    // Sizes of more than one byte push the section up.
    ByteWriter prefix;
    write_uleb(prefix, size);
    const std::size_t more = prefix.size() - 1;
    for (std::size_t i = 0; i < more; ++i) out_.byte(0);
    std::memmove(&out_[begin + more], &out_[begin], size);
    std::copy(prefix.bytes().begin(), prefix.bytes().end(), &out_[at_]);
}

// The column does not say how many values it has; the caller does, and asks for no more.
DeltaOfDeltaReader::DeltaOfDeltaReader(ByteReader& in, std::size_t count, const char* what)
    : in_(in), what_(what) {
    const std::uint8_t present = in.byte(what);
    if (present > 1 || (present == 1) != (count > 0)) in.fail(what);
    if (present == 1) previous_ = static_cast<std::uint64_t>(read_zigzag(in, what));
    if (in.byte(what) > 8) in.fail(what);
}

// Values and steps are added without a sign, so that hostile ones wrap around and do not overflow.
std::int64_t DeltaOfDeltaReader::next_step() {
    if (first_) {
        first_ = false;
        return static_cast<std::int64_t>(previous_);
    }
    std::size_t ones = 0;
    while (ones < 5 && bits(1) == 1) ++ones;
    std::uint64_t change = 0;
    if (ones == 5) {
        change = bits(64);
    } else if (ones > 0) {
        const Code& code = kShortCodes[ones - 1];
        change = bits(code.payload_bits) - static_cast<std::uint64_t>(code.bias);
    }
    if (!in_.ok()) return 0;
    delta_ += change;
    previous_ += delta_;
    return static_cast<std::int64_t>(previous_);
}

std::uint64_t DeltaOfDeltaReader::bits(unsigned count) {
    std::uint64_t value = 0;
    while (count > 0) {
        if (bits_left_ == 0) {
            current_ = in_.byte(what_);
            bits_left_ = 8;
        }
        const unsigned taken = count < bits_left_ ? count : bits_left_;
        bits_left_ -= taken;
        value = value << taken |
                ((static_cast<unsigned>(current_) >> bits_left_) & ((1U << taken) - 1));
        count -= taken;
    }
    return value;
}

void DeltaOfDeltaWriter::append(std::int64_t value) {
    const auto number = static_cast<std::uint64_t>(value);
    if (empty_) {
        empty_ = false;
        out_.byte(1);
        write_zigzag(out_, value);
        used_bits_at_ = out_.size();
        out_.byte(0);
        previous_ = number;
        return;
    }
    const std::uint64_t delta = number - previous_;
    const auto change = static_cast<std::int64_t>(delta - delta_);
    previous_ = number;
    delta_ = delta;
    any_bits_ = true;
    if (change == 0) return bits(0, 1);
    for (const Code& code : kShortCodes) {
        // The bias makes the range lie one further on the positive side, as Loro has it.
        if (change < -code.bias || change > code.bias + 1) continue;
        bits(code.prefix, code.prefix_bits);
        return bits(static_cast<std::uint64_t>(change + code.bias), code.payload_bits);
    }
    bits(0b11111, 5);
    bits(static_cast<std::uint64_t>(change), 64);
}

// The byte after the first value says how many bits of the last byte are used: 8 for all of them, 0
// if there is only one value.
void DeltaOfDeltaWriter::finish() {
    if (empty_) {
        out_.byte(0);
        out_.byte(0);
        return;
    }
    if (!any_bits_) return;
    if (bits_used_ == 0) {
        out_[used_bits_at_] = 8;
        return;
    }
    out_[used_bits_at_] = static_cast<std::uint8_t>(bits_used_);
    out_.byte(static_cast<std::uint8_t>(current_ << (8 - bits_used_)));
}

void DeltaOfDeltaWriter::bits(std::uint64_t value, unsigned count) {
    for (unsigned i = count; i-- > 0;) {
        current_ = static_cast<std::uint8_t>(current_ << 1 | ((value >> i) & 1));
        if (++bits_used_ == 8) {
            out_.byte(current_);
            current_ = 0;
            bits_used_ = 0;
        }
    }
}

}  // namespace quire::codec
