// Commands that only people may give, and how to give another command as the same person.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/commands/command.h"

namespace quire::cli {

// Errors: invalid_argument "not_a_person" when --actor or QUIRE_ACTOR names anybody else.
Result<void> check_is_person(const Globals& globals);
// The error, and how to say who you are if the actor is not a person. Code, reason and details
// stay.
Error with_person_hint(const Globals& globals, Error error);

// The options with which another command works on the same workspace as the same actor, for a
// shell; a space before each. Only what was named needs naming again.
std::string same_options(const Globals& globals);

}  // namespace quire::cli
