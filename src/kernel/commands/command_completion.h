// The completion of commits that a kernel had begun when it was killed (command_journal.h).
//
// The disk comes first, in the order in which a commit is made. A path is left alone if it is neither as it was
// before the commit nor as the commit makes it, for then somebody else has changed it. What the disk refuses is
// tried again at the next start. A second call changes nothing, so that a kernel may be killed here too.
//
// The texts of a command then get their place in history, as changes of the command's actor, and are merged with
// what others have made of the files since; the record of what has no history is finished (command_past.h);
// and the audit log gets the entry that the killed kernel owes. So "undo the last command" takes back a command that was completed as it does any other.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
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
// Errors: those of opening the directory, and of the disk; then the journal stays.
Result<std::optional<CompletedCommit>> complete_commit(const std::string& stage,
                                                       const std::string& directory,
                                                       fs::FileSystem& files);

struct CompletionParts {
    Kernel& kernel;
    FileGate& gate;
    FileCalls& files;
    const std::string& workspace;
};
struct CompletedCommands {
    std::vector<std::string> said;  // A sentence for each, for the operator.
    std::set<std::string> kept;     // The stages of those that the next start tries again.
};
// Completes the commits of all commands in the workspace. Call it before anything else reads files, for a
// change that is read earlier has another author. Blocks.
CompletedCommands complete_commands(const CompletionParts& parts);

}  // namespace quire::kernel
