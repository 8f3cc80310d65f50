// What a fuzz target has allocated, counted.
#pragma once

#include <cstddef>

namespace quire::fuzz {

// The most that was allocated at once since it was made, beyond what was allocated then. One at a
// time.
class PeakMemory {
public:
    PeakMemory();
    std::size_t bytes() const;

private:
    std::size_t before_;
};

// CHECKs, where it ends, that no more was allocated at once than an input of so many bytes may
// take: 64 times as much and 64 MB.
class MemoryBound {
public:
    explicit MemoryBound(std::size_t input) : input_(input) {}
    MemoryBound(const MemoryBound&) = delete;
    MemoryBound& operator=(const MemoryBound&) = delete;
    ~MemoryBound();

private:
    std::size_t input_;
    PeakMemory peak_;
};

}  // namespace quire::fuzz
