// What bytes are, in 128 bits: XXH3. Detects change, not malice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quire::fs {

struct Hash {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    static Hash of(std::string_view bytes);  // Some 10 GB/s.
    std::string hex() const;                 // 32 digits.
    friend bool operator==(const Hash&, const Hash&) = default;
};

}  // namespace quire::fs
