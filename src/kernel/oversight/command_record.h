// CommandRecord: what the audit log says of a command of the shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/oversight/touched.h"

namespace quire::kernel {

// A command of the shell that has ended, for the log.
struct CommandRecord {
    std::string command;
    std::string_view decision;  // Before it ran.
    std::string_view tier;
    int exit_code = 0;
    // "committed", "discarded", "waits" (for a person), or "unstaged": it ran in the workspace itself.
    std::string_view outcome;
    std::vector<std::string> predicted;        // The paths that it was to change.
    std::vector<ChangedBlock> blocks;          // The texts that it changed, all of them.
    std::vector<std::string> without_history;  // The other changes.
    std::vector<std::string> left_out;         // Changes that were not kept.
    std::vector<std::string> missed;           // Changes that nobody had predicted.
};

}  // namespace quire::kernel
