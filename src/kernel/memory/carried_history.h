// Checks the history of a carried block against its changes. The file may come from anybody, and
// after the import its entries are undone, restored and shown like our own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "crdt/doc/doc.h"
#include "kernel/core/unit.h"

namespace quire::kernel {

// The entries, read, of a history whose changes are all in `doc`: each of a kind and a state that
// entries of memory have, of versions and changes that are there, in their order; what was undone
// was undone from the newest back; no change is the entry of another actor than the one that it
// names; and the last entry's version is the one that the changes lead to. Who made what, when and
// in which words is believed beyond that. Errors: corrupt, naming the entry by its version. O(n log
// n).
Result<std::vector<Unit>> check_history(const std::vector<store::UnitRecord>& entries,
                                        const std::vector<crdt::Change>& changes,
                                        const crdt::Doc& doc);

}  // namespace quire::kernel
