// The settings of commands.
#pragma once

#include <cstddef>

#include "shell/enforcement.h"
#include "stage/stage_run.h"
#include "stage/tier.h"

namespace quire::kernel {

struct CommandSettings {
    shell::Enforcement enforcement = shell::Enforcement::strict;
    stage::Tier minimum_tier = stage::Tier::staged;
    // No better tier is used, whatever this system has.
    stage::Tier best_tier = stage::Tier::staged;
    bool network = false;
    stage::StageLimits limits = {};
    std::size_t file_bytes = std::size_t{16} << 20;  // Larger files have no document.
};

}  // namespace quire::kernel
