// The checks that changes can be put to alone, before an import touches anything.
#pragma once

#include "base/result.h"
#include "crdt/ids/change_batch.h"

namespace quire::crdt {

// Errors: corrupt.
Result<void> validate(const ChangeBatch& batch);

}  // namespace quire::crdt
