// The completion of commits that a kernel had begun when it was killed (command_journal.h).
//
// The disk comes first, by the order in which a commit is made. A file is left alone if its bytes are neither
// those from before the commit nor those that the commit writes. A second call changes nothing, so that a kernel
// may be killed here too.
//
// The texts of a command then get their place in history, as changes of the command's actor; the record of
// what has no history is finished (command_past.h); and the audit log gets the entry that the killed
// kernel owes. So "undo the last command" takes back a command that was completed as it does any other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace quire::fs {
class FileSystem;
}

namespace quire::kernel {

class FileCalls;
class FileGate;
class Kernel;

// A commit that was begun, and is done now.
struct CompletedCommit {
    std::size_t changes = 0;
    std::vector<std::string> left;  // The paths that were left alone.
};
// Completes what is in the journal of `stage`, on the disk alone. Returns none if there is no journal.
// Errors: those of opening the directory.
Result<std::optional<CompletedCommit>> complete_commit(const std::string& stage,
                                                       const std::string& directory,
                                                       fs::FileSystem& files);

struct CompletionParts {
    Kernel& kernel;
    FileGate& gate;
    FileCalls& files;
    const std::string& workspace;
};
// Completes the commits of all commands in the workspace. Returns a sentence for each, for the operator. Call it
// before anything else reads files, for a change that is read earlier has another author. Blocks.
std::vector<std::string> complete_commands(const CompletionParts& parts);

}  // namespace quire::kernel
