// The identity of bytes in 128 bits: XXH3. Detects changes, not malice. It is stored with
// documents, so its algorithm stays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quire::fs {

// A hash of a file's content.
struct Hash {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    static Hash of(std::string_view bytes);  // About 10 GB/s.
    std::string hex() const;                 // 32 digits.
    friend bool operator==(const Hash&, const Hash&) = default;
};

}  // namespace quire::fs
