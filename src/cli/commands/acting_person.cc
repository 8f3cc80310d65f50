#include "cli/commands/acting_person.h"

#include "base/concat.h"
#include "cli/commands/terminal.h"
#include "cli/settings/person.h"

namespace quire::cli {

Result<Globals> acting_as_person(Globals globals) {
    if (!globals.actor_named) {
        if (const auto person = person_here()) globals.actor = person->str();
    }
    const auto actor = policy::Actor::parse(globals.actor);
    if (actor && actor->kind == policy::ActorKind::human) return globals;
    return invalid("not_a_person",
                   cat("only people may use this command: say who you are with --actor ",
                       "human:NAME. ", globals.actor, " has the tool context for this"));
}

void hint_at_person(const Globals& globals) {
    const auto actor = policy::Actor::parse(globals.actor);
    if (actor && actor->kind != policy::ActorKind::human)
        complain("say who you are with --actor human:NAME, or in QUIRE_ACTOR");
}

std::string same_options(const Globals& globals) {
    const bool is_here = globals.workspace == ".";
    return cat(is_here ? "" : cat(" --workspace ", for_shell(globals.workspace)), " --actor ",
               for_shell(globals.actor));
}

}  // namespace quire::cli
