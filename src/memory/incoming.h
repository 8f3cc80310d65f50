// Incoming: the gate for changes of another replica. Before a batch is merged, every op in it is
// checked against the same rules as a local write; one refused op refuses the whole batch.
//
// It looks at ops, not at the result of merging them, so the cost is that of the batch. Only if the
// actor may append but not overwrite is the batch carried out on a copy of the version it was
// written on, and its effect inspected: O(document) in that case.
//
// An item may lack required fields for a while: types and names are checked, completeness is not.
// Limits (max_items, char_limit) are checked against the present content.
#pragma once

#include <span>

#include "base/result.h"
#include "crdt/doc/doc.h"
#include "memory/gate.h"
#include "memory/memory_block.h"

namespace quire::memory {

struct IncomingOptions {
    // The changes restore an earlier version, in which required fields may be unset.
    bool go_back = false;
};

// Checks that `by` may have written these changes, which are decoded but not imported. If the
// document lacks what the changes depend on, an append cannot be recognised and counts as an
// overwrite. CHECKs that no transaction is pending.
//
// Errors, with {change: "COUNTER@PEER"} naming the faulty change: those of admit(), schema_mismatch
// also for a container of the wrong kind or in a place for plain values, field_not_found for a
// container that the schema has no place for, max_items, char_limit.
Result<void> check_incoming(crdt::Doc& doc, const MemoryBlock& block, const Writer& by,
                            std::span<const crdt::Change> changes, IncomingOptions options = {});

}  // namespace quire::memory
