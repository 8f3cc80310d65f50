// The common part of undo and redo for all kinds of blocks. The order of a call: the steps, then
// for each of them begin(), the revert of its units' spans, and end_take_back(). What is not text,
// such as a memory block's record, its own call takes back in between.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "crdt/undo/revert.h"
#include "kernel/core/kernel.h"
#include "kernel/core/live_document.h"

namespace quire::kernel {

// The units that the next undo or redo takes back, of `actor` or of any. Valid until the history
// grows. Errors: not_found "nothing_to_undo", "nothing_to_redo".
Result<std::vector<Unit*>> next_to_take_back(History& history, const std::string& actor,
                                             UndoScope scope, bool redo);

// Error: not_found "nothing_to_undo" or "nothing_to_redo".
Failure nothing_to_take_back(const std::optional<std::string>& actor, bool redo);
// The versions of the steps that an undo takes, newest first (History::with_group_of()). Errors:
// not_found "nothing_to_undo", "nothing_to_redo".
Result<std::vector<std::uint64_t>> steps_to_take_back(History& history, const UndoWhich& which);

// The spans of all units, one after another.
std::vector<crdt::IdSpan> spans_of(const std::vector<Unit*>& units);

// The result of an undo or redo, for end_take_back(). `units` are the history's own, which
// end_take_back() marks.
struct TakenBack {
    const std::vector<Unit*>& units;
    bool redo;
    bool skipped;                             // A part was left, for others had changed it.
    std::span<const crdt::StandIn> settled;   // Atoms that were taken back without an op.
    std::optional<RecordChange> record = {};  // The change that it made of the document's record.
};

// Ends the transaction of an undo or redo, marks the units, and records an entry if anything
// changed. The caller submits.
void end_take_back(LiveDocument& document, const BlockRef& block, const policy::Actor& actor,
                   const TakenBack& what);

}  // namespace quire::kernel
