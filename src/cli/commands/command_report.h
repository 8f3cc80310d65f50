// A report on a shell command: what it would do to the files of a workspace, and what the rules say to
// that.
#pragma once

#include <string>

#include "base/value.h"
#include "cli/settings/config.h"
#include "policy/actor.h"

namespace quire::cli {

struct CommandReport {
    Value structured;  // {decision, predicted, violations, escalations, warnings, unpredictable}
    std::string text;
};

// Nothing is run, and no kernel is needed. `workspace` and `cwd` are directories.
CommandReport report_command(const Settings& settings, const std::string& workspace,
                             const std::string& cwd, const policy::Actor& by,
                             const std::string& script);

}  // namespace quire::cli
