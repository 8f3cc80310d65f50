// Emptying a memory block: what is left reads as if nothing had ever been set.
#pragma once

#include "crdt/doc/doc.h"
#include "schema/block_schema.h"

namespace quire::document {

// Ops of the document's pending transaction, past every gate: for who has asked for leave already.
void clear(crdt::Doc& doc, const schema::BlockSchema& schema);

}  // namespace quire::document
