// The common part of undo and redo, whatever the block holds.
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

std::vector<crdt::IdSpan> spans_of(const std::vector<Unit*>& units);

struct TakenBack {
    const std::vector<Unit*>& units;
    bool redo;
    bool skipped;                            // A part was left, for others had changed it.
    std::span<const crdt::StandIn> settled;  // Atoms that were taken back without an op.
};

// Ends the transaction in which units were taken back, marks them, and records an entry where
// anything changed. What it changed is still to be submitted.
void end_take_back(LiveDocument& document, const BlockRef& block, const policy::Actor& actor,
                   const TakenBack& what);

}  // namespace quire::kernel
