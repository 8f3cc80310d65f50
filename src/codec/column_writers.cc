// Runs are chosen as Loro's writers choose them, so that what was read is written again byte for
// byte. A section is written behind a size of one byte and moved up when its size takes more.
#include "codec/column_writers.h"

#include <algorithm>
#include <cstring>

#include "codec/delta_of_delta.h"

namespace quire::codec {

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
    for (const DeltaCode& code : kDeltaCodes) {
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
