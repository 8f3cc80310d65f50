// The kinds of payload, and the payloads of ops that we carry without understanding them: those on
// containers of a kind from the future.
//
//   kind                 payload
//    0,1,2  null, bools  none
//    3      i64          sleb
//    4      f64          8 bytes, most significant first
//    5,6    string,bytes uleb size, bytes
//    7      index        uleb (means nothing here)
//    8,9    deletes      none
//   10      delta        sleb
//   11      value        tagged value (values.h)
//   12      style start  byte, uleb, uleb key index, tagged value
//   13      tree move    uleb, byte root, uleb; when not root: uleb (no longer written by anyone)
//   14      list move    uleb, uleb, uleb
//   15      list set     uleb, uleb, tagged value
//   16      tree move    uleb, uleb, uleb, byte root; when not root: uleb, uleb
//   17..127 the future   uleb size, bytes; written as 0x80|kind, read with and without that bit
//
// Inside an UnknownOp a payload stands as above, except that each key index is replaced by the key
// (uleb size, UTF-8): indices mean something in their block only.
#pragma once

#include <cstdint>

#include "codec/tables.h"
#include "crdt/ids/change.h"

namespace quire::codec {

enum class PayloadKind : std::uint8_t {
    null = 0,
    yes = 1,
    no = 2,
    i64 = 3,
    f64 = 4,
    string = 5,
    bytes = 6,
    index = 7,
    delete_once = 8,
    delete_sequence = 9,
    delta = 10,
    value = 11,
    style_start = 12,
    old_tree_move = 13,
    list_move = 14,
    list_set = 15,
    tree_move = 16,
};

inline constexpr std::uint8_t kFutureBit = 0x80;
inline constexpr std::uint8_t kLastKnownKind = static_cast<std::uint8_t>(PayloadKind::tree_move);

// The byte as it is written: known kinds without the bit, future ones with it.
std::uint8_t canonical_kind(std::uint8_t raw);

crdt::UnknownOp read_unknown(ByteReader& in, std::int32_t prop, std::uint8_t raw_kind,
                             const Tables& tables, Budget& budget);
// CHECKs that the op's value is what read_unknown() makes.
void write_unknown(ByteWriter& out, const crdt::UnknownOp& op, Registers& registers);

}  // namespace quire::codec
