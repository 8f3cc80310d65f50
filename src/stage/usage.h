// UsageWatch: what a staged command uses: processes, memory and disk, of all its processes together.
//
// Limits of single processes do not add up to one of all, and a user who is root has none; so the
// processes are counted from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "stage/stage.h"

namespace quire::stage {

class UsageWatch {
public:
    // `first`: the process from which all others come. `all` is the directory of all stages, which have
    // `disk_bytes` together, and `own` that of this one in it.
    UsageWatch(const Clock& clock, pid_t first, std::string all, std::string own,
               std::uint64_t processes, std::uint64_t memory_bytes, std::uint64_t disk_bytes);

    // The limit that is passed, if one is. Looks at most every 100 ms, and at the disk for at most a
    // tenth of the time. O(processes).
    std::optional<StageEnd> look();
    // Returns true if the command has filled what it may use of the disk, so that a file may be cut. Call it
    // when it has ended. Holes become bytes in the workspace, so they may
    // count. O(files that it made).
    bool has_filled_disk(bool counts_holes) const;

private:
    const Clock& clock_;
    const pid_t first_;
    const std::string all_;
    const std::string own_;
    const std::uint64_t processes_;
    const std::uint64_t memory_bytes_;
    const std::uint64_t disk_bytes_;
    std::int64_t next_ms_ = 0;
    std::int64_t next_disk_ms_ = 0;
};

}  // namespace quire::stage
