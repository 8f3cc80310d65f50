// Tiers: which tiers this system has, and why not the others.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "stage/tier.h"

namespace quire::stage {

struct TierFinding {
    Tier tier = Tier::none;
    std::string why_not;  // "" if the tier works here.
    bool works() const { return why_not.empty(); }
};

// Runs a command in each tier: a staged one in `workspace`, for an overlay may work in one place and not in
// another, and one on a copy in `scratch`, so that nothing large is copied. Both have a directory .quire.
// Best first; all but `none`.
std::vector<TierFinding> find_tiers(const std::string& workspace, const std::string& scratch,
                                    Clock& clock);

// The reason that may keep stages away from a workspace that has no directory .quire yet, as a clause; "" for
// none.
std::string obstacle_to_stages(const std::string& workspace);

}  // namespace quire::stage
