// Owners: names of memory blocks belong to the blocks' owners, which an earlier program did not store
// beside the name.
#pragma once

#include <vector>

#include "store/store.h"

namespace quire::kernel {

// Gives each memory block that has no owner beside its name the one that its header names, here and
// in the store, in one batch. No label changes. A block whose header does not parse stays as it is.
// Does not wait for the store: where the batch is refused, the next start tries it again.
void adopt_owners(std::vector<store::DocumentRecord>& known, store::Store& store);

}  // namespace quire::kernel
