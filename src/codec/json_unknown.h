// The payloads of ops that we carry without understanding them, as JSON: `value_type` names the
// kind (payload.h), `value` is what it says.
//
//   null true false delete_once delete_seq     no value
//   i64 delta_int container_idx                an integer
//   f64                                        a number
//   str                                        text
//   binary                                     an array of numbers
//   loro_value                                 any value; new containers: see unknown_to_json()
//   list_move                                  {from, from_idx, lamport}
//   Unknown                                    {kind, data}: 17 to 127, an array of numbers
//
// Styles, tree moves and list sets name keys and peers of their block by number, so they have no
// form that could be read elsewhere.
#pragma once

#include "base/result.h"
#include "base/value.h"
#include "crdt/ids/change.h"

namespace quire::codec {

// {type: "unknown", value_type, value, prop}. A new container in the value is "🦜:" and an id,
// which is `own`, the op's; its peer is spelled out even where others are numbered, as Loro does.
// Errors: unsupported "no_json_form".
Result<Value> unknown_to_json(const crdt::UnknownOp& op, crdt::OpId own);

// The op that `content` describes. Containers in the value keep their kinds. Errors: corrupt; the
// message says what is wrong with `content`, without its place.
Result<crdt::UnknownOp> unknown_from_json(const Map& content);

}  // namespace quire::codec
