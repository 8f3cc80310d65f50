// Commands that only people may give: who gives them, and how to give another one as the same
// person.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/commands/command.h"

namespace quire::cli {

// `globals` with a person as the actor: the one that --actor names, or else the login user. Errors:
// invalid_argument "not_a_person" for any other actor.
Result<Globals> acting_as_person(Globals globals);
// The hint that an error deserves when the actor is not a person: how to say who you are.
void hint_at_person(const Globals& globals);

// The options with which another command works on the same workspace as the same actor, for a
// shell; a space before each.
std::string same_options(const Globals& globals);

}  // namespace quire::cli
