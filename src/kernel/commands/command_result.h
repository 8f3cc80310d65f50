// CommandRun: a command that ran, and what became of its changes.
#pragma once

#include <vector>

#include "kernel/commands/forecast.h"
#include "kernel/commands/gate_result.h"
#include "shell/prediction.h"
#include "stage/stage_run.h"
#include "stage/tier.h"

namespace quire::kernel {

using stage::Tier;

struct CommandRun {
    CommandForecast forecast;
    stage::StageOutcome outcome;
    GateResult gate;
    std::vector<shell::Predicted> unexpected;  // Changes that were not predicted.
    Tier tier = Tier::staged;
    // The command saw a generation of the files, and not the live tree.
    bool on_generation = false;
    // The gate refused the run: none of its changes were kept.
    bool is_refused = false;
};

}  // namespace quire::kernel
