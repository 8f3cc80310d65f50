// Forecasts: what a command would do to the files of a workspace, and what the rules say to that.
#pragma once

#include <string>

#include "policy/actor.h"
#include "policy/path_rules.h"
#include "shell/judge.h"
#include "shell/prediction.h"

namespace quire::kernel {

struct CommandForecast {
    // Under the level that is set: a level that only tells refuses nothing.
    shell::Decision decision = shell::Decision::block;
    shell::Prediction prediction;
    shell::Judgement judgement;  // Under the level "strict", whatever is set.
};

// Nothing is run. `workspace` and `cwd` are directories. A script that bash would reject, or that this
// does not understand, is blocked, with a warning that says why. Looks at the disk.
CommandForecast forecast_command(const std::string& script, const std::string& workspace,
                                 const std::string& cwd, const policy::PathRules& rules,
                                 shell::Enforcement level, const policy::Actor& by);

// True if the prediction has the change of a path of the workspace.
bool is_predicted(const shell::Prediction& prediction, const std::string& path,
                  policy::Operation operation);

}  // namespace quire::kernel
