#include "fs/hash.h"

#include <xxhash.h>

namespace quire::fs {

Hash Hash::of(std::string_view bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {hash.high64, hash.low64};
}

std::string Hash::hex() const {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    for (const std::uint64_t half : {high, low}) {
        for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(half >> shift) & 15];
    }
    return out;
}

}  // namespace quire::fs
