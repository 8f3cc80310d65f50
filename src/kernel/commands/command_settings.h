// The settings of commands.
#pragma once

#include <cstddef>
#include <string>

#include "shell/enforcement.h"
#include "stage/stage_run.h"

namespace quire::kernel {

struct CommandSettings {
    shell::Enforcement enforcement = shell::Enforcement::strict;
    std::string minimum_tier = "staged";
    bool network = false;
    stage::StageLimits limits = {};
    std::size_t file_bytes = std::size_t{16} << 20;  // Larger files have no document.
};

}  // namespace quire::kernel
