// People: who it is that gives a command, or sits in front of this machine.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/commands.h"
#include "policy/actor.h"

namespace quire::cli {

// Whoever is logged in, as human:LOGIN; none where that cannot be an actor's name.
std::optional<policy::Actor> person_here();

// The same, with a person as the actor: the one that is named, or where none is, whoever is logged
// in. Errors: invalid_argument "not_a_person" for any other actor.
Result<Globals> acting_as_person(Globals globals, bool named);

// The options by which another command works on the same workspace as the same actor, each with a
// space before it, for a shell.
std::string same_options(const Globals& globals);

}  // namespace quire::cli
