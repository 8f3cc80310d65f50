// The limits of one staged command.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::stage {

struct StageLimits {
    std::int64_t timeout_ms = 120'000;
    std::size_t output_bytes = std::size_t{10} << 20;  // For each stream; the end is kept.
    std::uint64_t processes = 512;
    std::uint64_t memory_bytes = std::uint64_t{4} << 30;
    std::uint64_t disk_bytes = std::uint64_t{10} << 30;
};

}  // namespace quire::stage
