// Values as ops carry them.
//
//   tag  value            payload
//     0  null
//     1  true
//     2  false
//     3  i64              sleb
//     4  f64              8 bytes, most significant first
//     5  string           uleb size, UTF-8
//     6  bytes            uleb size, bytes
//     7  list             uleb count, then each with its tag
//     8  map              uleb count, then for each: uleb key index, the value with its tag
//     9  a new container  its kind, one byte; its id is that of the atom. Only outermost, or
//                         directly in the list of a list insert
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/value.h"
#include "codec/tables.h"
#include "crdt/ids/change.h"

namespace quire::codec {

// Deeper values are refused: everything that walks a Value recurses.
inline constexpr int kMaxValueDepth = 512;

enum class ValueTag : std::uint8_t { null, yes, no, i64, f64, string, bytes, list, map, container };

inline void put_tag(ByteWriter& out, ValueTag tag) {
    out.byte(static_cast<std::uint8_t>(tag));
}

// Failures go to `in`; what comes back then is incomplete.
Value read_value(ByteReader& in, const Tables& tables, Budget& budget);
crdt::Slot read_slot(ByteReader& in, const Tables& tables, Budget& budget);
std::vector<crdt::Slot> read_slots(ByteReader& in, const Tables& tables,
                                   Budget& budget);  // A tagged list.

void write_value(ByteWriter& out, const Value& value, Registers& registers);
void write_slot(ByteWriter& out, const crdt::Slot& slot, Registers& registers);
void write_slots(ByteWriter& out, const std::vector<crdt::Slot>& slots, Registers& registers);

// Copies a tagged value as it is, but for the keys of maps: each is read from the first and written
// to the second by `copy_key`. For values that we carry without understanding what they belong to.
using CopyKey = std::function<void(ByteReader&, ByteWriter&)>;
void copy_value(ByteReader& in, ByteWriter& out, const CopyKey& copy_key);

}  // namespace quire::codec
