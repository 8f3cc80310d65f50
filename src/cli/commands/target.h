// Target: the block that a person names on the command line, by a path, a block's id or a label.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/commands/command_client.h"

namespace quire::cli {

struct Target {
    std::string word;  // The text that was typed.
    std::string block_id;
    std::string path = {};   // Set for a file.
    std::string label = {};  // Set for a memory block.
    bool is_memory() const { return !label.empty(); }
};

// The help of such an argument, and its place in the usage.
inline constexpr const char* kTargetSays =
    "A path in the workspace, a block's id, or the label of a memory block";
inline constexpr const char* kTargetType = "TARGET";

// Finds the block. A word in the shape of a block's id is one; of other words a file goes before a
// memory block, and "file:" or "memory:" in front says which. Needs a client with whole answers.
// Errors: not_found "invalid_reference"; those of the tools file and context.
Result<Target> find_target(const Globals& globals, CommandClient& client, const std::string& word);
// Appends the names of a target to a JSON answer about it.
void append_names(Map& to, const Target& target);

}  // namespace quire::cli
