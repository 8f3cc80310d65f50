// Values of containers, at a version or, with `at` null, after every op.
#pragma once

#include <vector>

#include "base/value.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

// Null below kMaxValueDepth.
Value value_of(DocBody& document, Container& c, int depth, const Past* at);
// The roots that something was written to. Of several kinds with one name it is the first of ContainerKind,
// whatever the order in which they came, so that documents with one history show one value.
std::vector<ContainerIndex> shown_roots(DocBody& document, const Past* at);
// Their values, by name.
Value root_value(DocBody& document, const Past* at);
// The value of a slot or map entry that atom `lv` filled.
Value slot_value(DocBody& document, const Slot& slot, Lv lv, int depth, const Past* at);
Item slot_item(const DocBody& document, const Slot& slot, Lv lv);

}  // namespace quire::crdt
