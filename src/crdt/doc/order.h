// The order of a container's atoms, for readers that walk it: a Sequence with every op in.
#pragma once

#include "crdt/doc/site.h"
#include "crdt/merge/sequence.h"

namespace quire::crdt {

// The order of a text's, a list's or a movable list's atoms. CHECKs the kind. O(new ops · log n).
Sequence& order_of(Site site);

}  // namespace quire::crdt
