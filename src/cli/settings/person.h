// The person in front of this machine.
//
// A command acts in the name of this person, unless it is made for programs or names another actor.
#pragma once

#include "policy/actor.h"

namespace quire::cli {

// The login user as human:LOGIN. A login name that no actor may have (actor.h), or a user without
// one, is human:uid-NUMBER.
policy::Actor person_here();

}  // namespace quire::cli
