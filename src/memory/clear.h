// Emptying a memory block: what is left reads as if nothing had ever been set.
#pragma once

#include "crdt/doc/doc.h"
#include "memory/block_schema.h"

namespace quire::memory {

// Ops of the document's pending transaction, past every gate: for who has asked for leave already.
void clear(crdt::Doc& doc, const BlockSchema& schema);

}  // namespace quire::memory
