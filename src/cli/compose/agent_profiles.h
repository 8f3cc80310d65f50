// AgentProfiles: the profile of tools that an actor's client gets if it names none.
#pragma once

#include <map>
#include <string>

#include "cli/settings/config.h"
#include "policy/actor.h"
#include "sched/guarded.h"
#include "tools/tool.h"

namespace quire::cli {

// Settings replace all profiles at once while sessions ask for theirs. Any thread.
class AgentProfiles {
public:
    // Takes over the profiles of [agents.NAME].
    void set(const Settings& settings);
    // Returns the agent's profile in the settings, else `model`.
    tools::Profile of(const policy::Actor& actor) const;

private:
    using Profiles = std::map<std::string, tools::Profile, std::less<>>;
    sched::Guarded<Profiles> profiles_;
};

}  // namespace quire::cli
