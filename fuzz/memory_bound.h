// How much a fuzz target may allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "codec/budget.h"
#include "codec/snapshot.h"
#include "tests/peak_memory/peak_memory.h"

namespace quire::fuzz {

// The most that reading a blob may take (codec/budget.h).
inline std::size_t most_memory(std::span<const std::uint8_t> blob) {
    const auto snapshot = codec::Snapshot::open(blob);
    if (!snapshot) return codec::Budget::for_content(blob.size()).may_hold();
    codec::Budget budget = snapshot->budget();
    budget.draw();
    return budget.may_hold();
}

// CHECKs, where it ends, that no more was allocated at once than `most`.
class MemoryBound {
public:
    explicit MemoryBound(std::size_t most) : most_(most) {}
    MemoryBound(const MemoryBound&) = delete;
    MemoryBound& operator=(const MemoryBound&) = delete;
    ~MemoryBound() { CHECK(peak_.bytes() <= most_); }

private:
    std::size_t most_;
    tests::PeakMemory peak_;
};

}  // namespace quire::fuzz
