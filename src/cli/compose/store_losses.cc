#include "cli/compose/store_losses.h"

#include "base/concat.h"

namespace quire::cli {

std::vector<store::LostCommits> store_losses(const std::string& workspace) {
    return store::lost_commits(cat(workspace, "/.quire/quire.db"));
}

std::string loss_message(const store::LostCommits& lost) {
    const std::uint64_t count = lost.count();
    return cat(
        count,
        count == 1 ? " commit that was acknowledged is" : " commits that were acknowledged are",
        " missing (", count == 1 ? std::string("number ") : cat("numbers ", lost.first, " to "),
        lost.last,
        "), because the store's log or its database was damaged or exchanged. The log as it "
        "was found is in ",
        lost.directory,
        ". Restore a backup, or go on with what is there; then remove that directory");
}

}  // namespace quire::cli
