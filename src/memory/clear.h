// Emptying a memory block: afterwards it reads as if nothing had ever been set.
#pragma once

#include "crdt/doc/doc.h"
#include "memory/block_schema.h"

namespace quire::memory {

// Adds ops to the document's pending transaction without passing any gate: the caller has asked for
// permission already.
void clear(crdt::Doc& doc, const BlockSchema& schema);

}  // namespace quire::memory
