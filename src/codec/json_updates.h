// JSON updates: history as JSON, in Loro's schema version 1. What people read and scripts rewrite.
//
//   {schema_version: 1,
//    start_version: {peer: counter}      the heads of what came before
//    peers: [peer]                       decimal strings; null when peers stand as they are
//    changes: [{id, timestamp, deps: [id], lamport, msg: null or text,
//               ops: [{container, content, counter}]}]}
//
//   id           "12@0", where 0 is an index into the peers
//   container    "cid:root-NAME:Text", "cid:12@0:Map"
//   element      "L7@0", by lamport
//   content      {type, …} by the container's kind
//       Text           insert pos text            delete pos len start_id
//                      mark start end style_key style_value info            mark_end
//       List           insert pos value           delete pos len start_id
//       MovableList    the same, and  move from to elem_id                  set elem_id value
//       Map            insert key value           delete key
//       Tree           create target parent fractional_index    move likewise    delete target
//       Counter        counter value_type value prop
//       the future     unknown value_type value prop (json_unknown.h)
//   value        JSON; a new child container is "🦜:" and its id
//
// Positions count entities and the length of a run of backspaces is negative, as in the binary
// formats. What JSON cannot say is lost, as in Loro: bytes become an array of numbers, NaN and the
// infinities null. docs/formats/json.md says what else to know.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "crdt/ids/change.h"
#include "crdt/ids/version.h"

namespace quire::codec {

enum class JsonPeers { table, inline_ids };

// How deep a value inside JSON updates may be nested: lists and objects around each other.
inline constexpr int kMaxJsonDepth = 128;

// `start` is what the changes build on, told and not used. Changes come out by lamport. Errors:
// unsupported "no_json_form" for an op on a container from the future that says what only its
// block can resolve.
Result<Value> encode_json_updates(std::span<const crdt::Change> changes,
                                  const crdt::Frontiers& start, JsonPeers peers = JsonPeers::table);

// Writes them as text, as json::write() would spell that Value, without making it.
Result<std::string> write_json_updates(std::span<const crdt::Change> changes,
                                       const crdt::Frontiers& start,
                                       JsonPeers peers = JsonPeers::table);
// Takes both spellings of peers. Members that it does not know are passed over; `peers`, `msg` and
// a node's position may be missing. Errors: corrupt {path}, naming the place.
Result<std::vector<crdt::Change>> decode_json_updates(const Value& json);

}  // namespace quire::codec
