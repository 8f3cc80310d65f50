// The kernel refuses an agent by its rules. Some commands are not for agents at all, whatever the
// rules say: they open an editor or write files outside of the workspace. These are refused here,
// before anything starts, with a way to say who one is.
#include "cli/commands/acting_person.h"

#include <utility>

#include "base/concat.h"
#include "cli/commands/terminal.h"
#include "policy/actor.h"
#include "text/shell_word.h"

namespace quire::cli {
namespace {

bool is_person(const Globals& globals) {
    const auto actor = policy::Actor::parse(globals.actor);
    return actor && actor->kind == policy::ActorKind::human;
}

}  // namespace

Result<void> check_is_person(const Globals& globals) {
    if (is_person(globals)) return {};
    return invalid("not_a_person",
                   cat("only people may use this command: say who you are with --actor ",
                       "human:NAME. ", globals.actor, " has the tool context for this"));
}

Error with_person_hint(const Globals& globals, Error error) {
    if (is_person(globals)) return error;
    return {error.code(), error.reason(),
            cat(error.message(), ". Say who you are with --actor human:NAME, or in QUIRE_ACTOR"),
            error.details()};
}

std::string same_options(const Globals& globals) {
    return cat(
        globals.workspace_named ? cat(" --workspace ", text::for_shell(globals.workspace)) : "",
        globals.actor_named ? cat(" --actor ", text::for_shell(globals.actor)) : "");
}

}  // namespace quire::cli
