// What can be told of changes without knowing any other: run before an import touches anything.
#pragma once

#include "base/result.h"
#include "crdt/ids/change_batch.h"

namespace quire::crdt {

// Errors of both: corrupt.
//
// What a batch cannot say of itself: gaps between ops, sizes beyond all bounds, and that text is
// UTF-8, which holds in every batch.
Result<void> validate(const Change& change);
// The rest.
Result<void> validate(const ChangeBatch& batch);

}  // namespace quire::crdt
