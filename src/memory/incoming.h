// Incoming: the gate for what another replica wrote. Before a batch of changes is merged, every op
// in it is held against the same rules as a write here; one that is refused refuses the batch.
//
// It looks at ops, not at what merging them would make, so it costs what the batch costs. Only
// where a block may be appended to and not overwritten is the batch carried out on a copy of the
// version that it was written on, and what it did is looked at: O(document) then.
//
// A replica's Map of an item may lack required fields for a while: types and names are checked,
// completeness is not. Limits (max_items, char_limit) are checked against what is there now.
#pragma once

#include <span>

#include "base/result.h"
#include "crdt/doc/doc.h"
#include "memory/gate.h"
#include "memory/memory_block.h"

namespace quire::memory {

struct IncomingOptions {
    // They lead back to an earlier version, in which a required field may not have been set yet.
    bool go_back = false;
};

// Whether `by` may have written these changes, decoded but not imported. A document that does not
// know what they depend on cannot tell where an append was made: they are then an overwrite. CHECKs
// that no transaction is pending.
//
// Errors, with {change: "COUNTER@PEER"} of the change at fault: those of admit(), schema_mismatch
// also for a container of the wrong kind or in a place for plain values, field_not_found for a
// container that the schema has no place for, max_items, char_limit.
Result<void> check_incoming(crdt::Doc& doc, const MemoryBlock& block, const Writer& by,
                            std::span<const crdt::Change> changes, IncomingOptions options = {});

}  // namespace quire::memory
