// The person in front of this machine.
#pragma once

#include <optional>

#include "policy/actor.h"

namespace quire::cli {

// The login user as human:LOGIN; none if the login name is not a valid actor's name.
std::optional<policy::Actor> person_here();

}  // namespace quire::cli
