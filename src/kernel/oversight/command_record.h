// CommandRecord: the audit log's entry about one shell command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/oversight/touched.h"

namespace quire::kernel {

// A shell command that has ended.
struct CommandRecord {
    std::string command;
    std::string_view decision;  // The decision before it ran.
    std::string_view tier;
    int exit_code = 0;
    // "committed", "discarded", "waits" (for a person), or "unstaged": it ran in the workspace itself.
    std::string_view outcome;
    std::vector<std::string> predicted;        // Predicted paths.
    std::vector<ChangedBlock> blocks;          // Every changed text.
    std::vector<std::string> without_history;  // Other committed paths.
    std::vector<std::string> left_out;         // Paths whose changes were not committed.
    std::vector<std::string> missed;           // Changed paths that were not predicted.
    std::string past;                          // The record that an undo needs; "" for none.
};

}  // namespace quire::kernel
