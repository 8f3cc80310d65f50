// The undo of what a command changed and that has no history (command_past.h). Texts are undone as all
// texts are, each by itself.
//
// The changes are taken back in reverse, each one where the path is as the command left it and the rules
// let the actor do so. What somebody has changed since is left alone, and stays in the record.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/actor.h"

namespace quire::kernel {

class FileGate;

struct CommandUndone {
    // A path that was left alone, and why.
    struct Left {
        std::string path;
        std::string why;
    };
    std::vector<std::string> restored;  // The paths, in the order in which they were put back.
    std::vector<Left> left;
};

// `past`: the record's name. With `dry_run` nothing is changed. Errors: not_found "nothing_to_undo" for a
// record that is not there any more; those of opening the workspace.
Result<CommandUndone> undo_command(const std::string& workspace, FileGate& gate,
                                   const std::string& past, const policy::Actor& by, bool dry_run);

}  // namespace quire::kernel
