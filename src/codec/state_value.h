// Values as states carry them. Not the spelling of values in ops (values.h).
//
//   tag  value       payload
//     0  null
//     1  boolean     byte 0 or 1
//     2  f64         8 bytes, least significant first
//     3  i64         zigzag
//     4  string      uleb size, UTF-8
//     5  list        uleb count, then each with its tag
//     6  map         uleb count, then for each: uleb size, UTF-8 key, the value with its tag
//     7  container   its id, the spelling inside a state (container_ids.h). Only outermost
//     8  bytes       uleb size, bytes
//
// The entries of a map stand in any order.
#pragma once

#include <compare>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/value.h"
#include "codec/budget.h"
#include "crdt/ids/ids.h"

namespace quire::codec {

// The content of a list position or a map key: a plain value, or a child container.
using StateSlot = std::variant<Value, crdt::ContainerId>;

// When a register was written and by whom. The largest wins.
struct Stamp {
    crdt::Lamport lamport = 0;
    crdt::PeerId peer = 0;
    friend auto operator<=>(const Stamp&, const Stamp&) = default;
};

// Failures go to `in`; what comes back then is incomplete.
Value read_state_value(ByteReader& in, Budget& budget);
StateSlot read_state_slot(ByteReader& in, Budget& budget);
std::vector<StateSlot> read_state_slots(ByteReader& in, Budget& budget);  // uleb count, then each.

void write_state_value(ByteWriter& out, const Value& value);
void write_state_slot(ByteWriter& out, const StateSlot& slot);

// A string, in place, whose UTF-8 is checked; `what` is a literal.
std::string_view read_utf8(ByteReader& in, const char* what);

}  // namespace quire::codec
