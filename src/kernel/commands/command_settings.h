// The settings of commands.
// They come from `[shell]` in quire.toml. A command goes by those that held when it began.
#pragma once

#include <cstddef>

#include "shell/enforcement.h"
#include "stage/stage_run.h"
#include "stage/tier.h"

namespace quire::kernel {

struct CommandSettings {
    shell::Enforcement enforcement = shell::Enforcement::strict;
    // Under "strict" a command is refused in a weaker tier, unless it is known to change nothing.
    stage::Tier minimum_tier = stage::Tier::staged;
    // No better tier is used, whatever this system has.
    stage::Tier best_tier = stage::Tier::staged;
    // Commands share the network of the system. Under "strict" a person is asked before an agent
    // uses it.
    bool network = false;
    stage::StageLimits limits = {};
    std::size_t file_bytes = std::size_t{16} << 20;  // Larger files have no document.
};

}  // namespace quire::kernel
