// Values of containers, at a version or, with `at` null, after every op.
#pragma once

#include "base/value.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

// Null below kMaxValueDepth.
Value value_of(DocBody& document, Container& c, int depth, const Past* at);
// All roots that something was written to, by name.
Value root_value(DocBody& document, const Past* at);
// The value of a slot or map entry that atom `lv` filled.
Value slot_value(DocBody& document, const Slot& slot, Lv lv, int depth, const Past* at);
Item slot_item(const DocBody& document, const Slot& slot, Lv lv);

}  // namespace quire::crdt
