// CommandRecord: the audit log's entry about one shell command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/fields.h"
#include "kernel/oversight/touched.h"

namespace quire::kernel {

// A shell command that has run, before its changes are committed. The journal of the commit has it too.
// Texts are valid UTF-8, repaired where a path or the command was not. Paths are relative to the
// workspace.
struct CommandRan {
    std::string command;
    std::string decision;  // The decision before it ran.
    std::string tier;
    std::int64_t exit_code = 0;
    std::vector<std::string> predicted = {};  // Predicted paths.
    std::vector<std::string> missed = {};     // Changed paths that were not predicted.

    static json::Fields<CommandRan> fields() {
        return json::Fields<CommandRan>()
            .required("command", &CommandRan::command)
            .required("decision", &CommandRan::decision)
            .required("tier", &CommandRan::tier)
            .optional("exit_code", &CommandRan::exit_code)
            .optional("predicted", &CommandRan::predicted)
            .optional("missed", &CommandRan::missed);
    }
};

// A shell command that has ended.
struct CommandRecord {
    CommandRan ran;
    // "committed", "discarded", "waits" (for a person), or "unstaged": it ran in the workspace itself.
    std::string_view outcome;
    std::vector<ChangedBlock> blocks;          // Every changed text.
    std::vector<std::string> without_history;  // Other committed paths.
    std::vector<std::string> left_out;         // Paths whose changes were not committed.
    std::string past;                          // The record that an undo needs; "" for none.

    bool changes() const { return !blocks.empty() || !without_history.empty(); }
};

}  // namespace quire::kernel
