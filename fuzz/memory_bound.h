// How much a fuzz target may allocate.
#pragma once

#include <cstddef>

#include "base/check.h"
#include "tests/peak_memory/peak_memory.h"

namespace quire::fuzz {

// CHECKs, where it ends, that no more was allocated at once than an input of so many bytes may
// take: 64 times as much and 64 MB.
class MemoryBound {
public:
    explicit MemoryBound(std::size_t input) : input_(input) {}
    MemoryBound(const MemoryBound&) = delete;
    MemoryBound& operator=(const MemoryBound&) = delete;
    ~MemoryBound() {
        constexpr std::size_t kPerByte = 64;
        constexpr std::size_t kBase = std::size_t{64} << 20;
        CHECK(peak_.bytes() <= kPerByte * input_ + kBase);
    }

private:
    std::size_t input_;
    tests::PeakMemory peak_;
};

}  // namespace quire::fuzz
