// Changes of what is known of a memory block beside its content: its label, its type, its schema, and
// whether it is there. Each is one step of undo, whose unit holds the record before and after.
//
// An undo sets back only what the call changed, and only where that is still as the call left it:
// shares that were given in between stay. It takes back all of a call or nothing.
#pragma once

#include <string>
#include <vector>

#include "kernel/memory/memory_body.h"

namespace quire::kernel {

RecordState record_state(const LiveDocument& document);

// Stores the header with the pending transaction.
void put_header(LiveDocument& document, const MemoryHeader& header);
// Records the call that changed the record from `before` as a step of undo, with the content that it
// changed in `spans`.
void record_change(LiveDocument& document, const policy::Actor& by, std::string description,
                   RecordState before, std::vector<crdt::IdSpan> spans = {},
                   store::DocumentKey partner = 0);

// The record that an undo, or a redo, of a change makes of today's; nothing where somebody changed it
// since. Errors: corrupt.
Result<std::optional<RecordState>> record_set_back(const LiveDocument& document,
                                                   const RecordChange& change, bool redo);

// The refusal of a change that would alter what is read-only. Errors: denied "read_only_field",
// "read_only_section".
Failure breached(const memory::ReadOnlyBreach& breach);

// Returns true if a change that another actor made since that version still stands.
bool others_wrote_since(const BlockRef& block, const policy::Actor& by, std::uint64_t version);

// The schema that the block had at a version. Errors: corrupt; unsupported "schema_changed"
// {version_id} where an earlier program converted the block since, for it kept no schema.
Result<memory::BlockSchema> schema_at(LiveDocument& document, const MemoryHeader& header,
                                      const BlockAt& at);

}  // namespace quire::kernel
