// The person in front of this machine.
#pragma once

#include <optional>

#include "policy/actor.h"

namespace quire::cli {

// Whoever is logged in, as human:LOGIN; none where that cannot be an actor's name.
std::optional<policy::Actor> person_here();

}  // namespace quire::cli
