// The limits of a staged command, and how it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace quire::stage {

// The limits of one command.
struct StageLimits {
    std::int64_t timeout_ms = 120'000;
    std::size_t output_bytes = std::size_t{10} << 20;  // For each stream; the end is kept.
    std::uint64_t processes = 512;
    std::uint64_t memory_bytes = std::uint64_t{4} << 30;
    std::uint64_t disk_bytes = std::uint64_t{10}
                               << 30;  // For all stages of the workspace together.
};

// How a command ended: by itself, or by a limit.
// Only a command that exited has changes that count: the others may be cut off in the middle.
enum class StageEnd { exited, timed_out, stopped, processes, memory, disk };

// The streams are bytes, of which the end is kept; both are empty if somebody followed them.
struct StageOutcome {
    std::string output;
    std::string errors;
    int exit_code = -1;  // 128 and the signal's number if one ended it, as a shell has it.
    StageEnd end = StageEnd::exited;
    bool output_cut = false;  // Only the end of it was kept.
    bool errors_cut = false;
    // The wall clock when the command began, for changes_in().
    std::int64_t began_ns = 0;
};

}  // namespace quire::stage
