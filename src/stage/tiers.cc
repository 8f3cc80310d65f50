// Only a try tells: containers, AppArmor and limits of the kernel forbid namespaces in ways that no
// setting shows. Each tier runs `true` once, some milliseconds each.
#include "stage/tiers.h"

#include <stop_token>

#include <linux/magic.h>
#include <sys/vfs.h>

#include "base/concat.h"
#include "stage/stage.h"
#include "stage/twins.h"

namespace quire::stage {

std::vector<TierFinding> find_tiers(const std::string& workspace, const std::string& scratch,
                                    Clock& clock) {
    std::vector<TierFinding> out;
    for (const Tier tier : {Tier::staged, Tier::bubblewrap, Tier::landlock, Tier::observed}) {
        const std::string& place = tier == Tier::staged ? workspace : scratch;
        Result<Stage> made = tier == Tier::staged
                                 ? Stage::make(place, {})
                                 : Stage::make_copy(place, {}, tier, StageLimits{}.disk_bytes);
        const Result<StageOutcome> ran = made ? made->run({"true", place}, clock, {})
                                              : Result<StageOutcome>(Failure(made.error()));
        TierFinding found{tier, ran ? "" : ran.error().message()};
        if (ran && ran->exit_code != 0) {
            found.why_not = cat("`true` ended with ", ran->exit_code,
                                ran->errors.empty() ? "" : ": ", ran->errors);
            while (found.why_not.ends_with('\n')) found.why_not.pop_back();
        }
        out.push_back(std::move(found));
    }
    return out;
}

std::string obstacle_to_stages(const std::string& workspace) {
    struct statfs disk {};
    if (::statfs(workspace.c_str(), &disk) == 0 && disk.f_type == OVERLAYFS_SUPER_MAGIC)
        return "it lies on an overlay";
    const std::string below = mount_below(workspace);
    return below.empty() ? "" : cat("there is a mount below it, at ", below);
}

}  // namespace quire::stage
