// Checks the history of a carried block against its changes. The file may come from anybody, and
// after the import its entries are undone, restored and shown like our own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "crdt/doc/doc.h"
#include "kernel/core/unit.h"

namespace quire::kernel {

// Reads and checks the entries of a history whose changes are all in `doc`. Each entry must be of
// a kind and a state that entries of memory have, and must name versions and changes that exist,
// in their order. Undone entries must have been undone from the newest back. No change may name
// another actor than its entry, and the last entry's version must be the one that the changes
// lead to. Beyond that, authors, times and descriptions are believed. Errors: corrupt, naming the
// entry by its version. O(n log n).
Result<std::vector<Unit>> check_history(const std::vector<store::UnitRecord>& entries,
                                        const std::vector<crdt::Change>& changes,
                                        const crdt::Doc& doc);

}  // namespace quire::kernel
