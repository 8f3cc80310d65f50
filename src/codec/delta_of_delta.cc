// Two cases are rare in a column of DeltaOfDelta: its last bytes, and a step that no short code can say.
#include "codec/delta_of_delta.h"

namespace quire::codec {

std::uint64_t BitReader::peek_at_end(std::size_t byte) const {
    std::uint64_t word = 0;
    for (std::size_t i = byte; i < byte + sizeof word; ++i)
        word = word << 8 | (i < bytes_.size() ? bytes_[i] : 0U);
    return word;
}

std::uint64_t BitReader::next_long_code() {
    constexpr unsigned kPrefix = 5;
    constexpr unsigned kHalf = 32;
    at_ += kPrefix;
    const std::uint64_t high = peek() >> kHalf;
    at_ += kHalf;
    const std::uint64_t low = peek() >> kHalf;
    at_ += kHalf;
    return high << kHalf | low;
}

}  // namespace quire::codec
