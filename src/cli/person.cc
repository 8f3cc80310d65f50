#include "cli/person.h"

#include <pwd.h>
#include <unistd.h>

#include "base/cat.h"
#include "cli/terminal.h"
#include "policy/actor.h"

namespace quire::cli {

Result<Globals> acting_as_person(Globals globals, bool named) {
    if (!named) {
        const struct passwd* const entry = ::getpwuid(::getuid());
        const std::string login = cat("human:", entry == nullptr ? "" : entry->pw_name);
        if (policy::Actor::parse(login)) globals.actor = login;
    }
    const auto actor = policy::Actor::parse(globals.actor);
    if (actor && actor->kind == policy::ActorKind::human) return globals;
    return invalid("not_a_person",
                   cat("this is for people: say who you are with --actor human:NAME; ",
                       globals.actor, " has the tool context"));
}

std::string same_options(const Globals& globals) {
    const bool is_here = globals.workspace == ".";
    return cat(is_here ? "" : cat(" --workspace ", for_shell(globals.workspace)), " --actor ",
               for_shell(globals.actor));
}

}  // namespace quire::cli
