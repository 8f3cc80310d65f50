// The history of all files as commits of git: one commit for each version of a file, and for its deletion, in the
// order in which these were made, each by its actor. The commits form a line of their own on a new ref, so that
// index, branches and work tree stay as they are. A message ends in trailers:
//
//     Quire-Actor: agent:ada
//     Quire-Operation: agent:ada edit v7 src/main.cc
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/function.h"
#include "json/fields.h"
#include "kernel/core/caller.h"

namespace quire::sched {
class Scheduler;
}

namespace quire::kernel {

class FileGate;
class Kernel;

struct GitExported {
    std::string ref;
    std::string commit;  // The last one.
    std::size_t commits = 0;
    std::vector<std::string> files;    // Those that have commits.
    std::vector<std::string> ignored;  // Files that git ignores; they are left out.
    static json::Fields<GitExported> fields() {
        return json::Fields<GitExported>()
            .required("ref", &GitExported::ref)
            .required("commit", &GitExported::commit)
            .required("commits", &GitExported::commits)
            .required("files", &GitExported::files)
            .required("ignored", &GitExported::ignored);
    }
};

// The work of an export; all outlive its reply.
struct GitExportParts {
    Kernel& kernel;
    FileGate& gate;
    sched::Scheduler& workers;  // Git is waited for there.
    std::string directory;      // The workspace.
};

// Versions that were stored before versions could be read again, and those that left the text as it
// was, have no commit. O(history of all files), and their texts in memory. Errors: denied
// "permission_denied" for agents; invalid_argument "invalid_argument" for a ref that is not ours;
// conflict "ref_exists" {ref}; not_found "no_history"; out_of_range "too_large" {limit}; those of
// git::Repository.
void export_to_git(const GitExportParts& parts, const Caller& by, std::string ref,
                   Reply<GitExported> reply);

}  // namespace quire::kernel
