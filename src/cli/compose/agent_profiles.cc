// An actor that is no agent has no entry in the settings and gets `model`.
#include "cli/compose/agent_profiles.h"

#include <utility>

#include "base/enum_words.h"

namespace quire::cli {

// The settings accept only the words of profiles.
void AgentProfiles::set(const Settings& settings) {
    Profiles now;
    for (const auto& [name, agent] : settings.agents) {
        if (agent.profile) now.emplace(name, *enum_named<tools::Profile>(*agent.profile));
    }
    profiles_.with([&](Profiles& all) { all = std::move(now); });
}

tools::Profile AgentProfiles::of(const policy::Actor& actor) const {
    return profiles_.with([&](const Profiles& all) {
        const auto own = all.find(actor.name);
        return actor.kind != policy::ActorKind::agent || own == all.end() ? tools::Profile::model
                                                                          : own->second;
    });
}

}  // namespace quire::cli
