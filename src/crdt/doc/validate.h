// What can be told of a change without knowing any other: run before an import touches anything.
#pragma once

#include "base/result.h"
#include "crdt/ids/change.h"

namespace quire::crdt {

// Errors: corrupt.
Result<void> validate(const Change& change);

}  // namespace quire::crdt
