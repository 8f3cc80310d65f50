#include "fs/hash.h"

#include <xxhash.h>

#include "base/hex.h"

namespace quire::fs {

Hash Hash::of(std::string_view bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {hash.high64, hash.low64};
}

std::string Hash::hex() const {
    return hex_number(high, 16) + hex_number(low, 16);
}

}  // namespace quire::fs
