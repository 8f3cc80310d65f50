// Commands that only people may give, and the options that repeat who gave them.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/commands/commands.h"

namespace quire::cli {

// `globals` with a person as the actor: the one that --actor names, or else the login user. Errors: invalid_argument "not_a_person" for any other actor.
Result<Globals> acting_as_person(Globals globals, bool named);

// The options by which another command works on the same workspace as the same actor, each with a
// space before it, for a shell.
std::string same_options(const Globals& globals);

}  // namespace quire::cli
