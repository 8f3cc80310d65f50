// Forecasts: what a command would do to the files of a workspace, and what the rules say to that.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

// The place where a command is going to run. In a stage it has directories for temporary files of its own, and a TMPDIR that is known; on a copy those of the system are none of its own.
enum class Surroundings { system, stage, copy };

// Nothing is run. `workspace` and `cwd` are directories. A script that bash would reject, or that this
// does not understand, is blocked, with a warning that says why. Looks at the disk.
CommandForecast forecast_command(const std::string& script, const std::string& workspace,
                                 const std::string& cwd, const policy::PathRules& rules,
                                 shell::Enforcement level, const policy::Actor& by,
                                 Surroundings around = Surroundings::system);

// A path of the workspace that a command changed. A path that became another kind of thing is two of
// these: it is deleted, and it is made.
struct ChangedPath {
    std::string_view path;
    bool is_deleted = false;
};

// Returns the changes that the prediction does not have, as indices. A path that became another kind
// of thing counts as written to. O(changes * predicted effects).
std::vector<std::size_t> unpredicted_changes(const shell::Prediction& prediction,
                                             const std::vector<ChangedPath>& changes);

}  // namespace quire::kernel
