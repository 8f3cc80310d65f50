// CommandRun: a command that ran, and what became of its changes.
// The runner fills it step by step: the forecast first, then the outcome, and last what the gate
// decided.
#pragma once

#include <vector>

#include "kernel/commands/forecast.h"
#include "kernel/commands/gate_result.h"
#include "shell/prediction.h"
#include "stage/stage_run.h"
#include "stage/tier.h"

namespace quire::kernel {

using stage::Tier;

// A result in memory for one caller. For a command without a stage `gate` is empty.
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
