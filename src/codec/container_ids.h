// Container ids as the state of a snapshot spells them: two spellings, and two numberings of kinds.
//
//   as the key of a state   byte kind | 0x80, uleb size, UTF-8 name        a root
//                           byte kind, u64le peer, i32le counter           made by an atom
//   inside a state          byte 0, uleb size, UTF-8 name, byte kind       a root
//                           byte 1, uleb peer, zigzag counter, byte kind   made by an atom
//
//   kind           as key   inside
//   map                 0        1
//   list                1        2
//   text                2        0
//   tree                3        4
//   movable list        4        3
//   counter             5        5
//   the future          as it is; a key has room for seven bits of it
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/budget.h"
#include "crdt/ids/ids.h"

namespace quire::codec {

// Returns false for a kind beyond seven bits, and for a root whose name is too long for a table.
bool has_container_key(const crdt::ContainerId& id);
Bytes container_key(const crdt::ContainerId& id);  // CHECKs has_container_key().
// Errors: corrupt. Exactly one spelling of an id is accepted, so that a key can be looked for.
Result<crdt::ContainerId> read_container_key(std::span<const std::uint8_t> key);

// The spelling inside a state. Failures go to `in`.
crdt::ContainerId read_container_id(ByteReader& in, Budget& budget);
void write_container_id(ByteWriter& out, const crdt::ContainerId& id);
std::optional<crdt::ContainerId> read_parent(ByteReader& in,
                                             Budget& budget);  // After a byte: 0 none, 1 an id.
void write_parent(ByteWriter& out, const std::optional<crdt::ContainerId>& parent);

}  // namespace quire::codec
