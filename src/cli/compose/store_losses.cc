// The store itself finds out that commits are missing, and keeps the damaged log in a directory
// beside it. What is read here are these directories; a loss is reported until a person removes its
// own.
#include "cli/compose/store_losses.h"

#include "base/concat.h"

namespace quire::cli {

std::vector<store::LostCommits> store_losses(const std::string& workspace) {
    return store::lost_commits(cat(workspace, "/.quire/quire.db"));
}

std::string loss_message(const store::LostCommits& lost) {
    const std::uint64_t count = lost.count();
    const std::string what =
        count == 1 ? cat("1 commit that was acknowledged is missing (number ", lost.last, ")")
                   : cat(count, " commits that were acknowledged are missing (numbers ", lost.first,
                         " to ", lost.last, ")");
    const std::string kept =
        lost.directory.empty()
            ? std::string()
            : cat(". The log as it was found is in ", lost.directory,
                  ". Restore a backup, or go on with what is there; then remove that directory");
    return cat(what, ", because the store's log or its database was damaged or exchanged", kept);
}

}  // namespace quire::cli
