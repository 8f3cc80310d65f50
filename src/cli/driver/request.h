// The forms of the engine's arguments and results as JSON (json/codec.h).
//
// Peers are decimal strings, an id is "counter@peer", frontiers are arrays of ids, a version vector
// is {peer: end}, bytes are base64; inside values bytes are {"$bytes": base64}.
//
// Counters are integers from 0 to 2^31 - 1. A peer below 2^64 - 1 does not fit a JSON number that
// JavaScript reads exactly, so it is a string.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "crdt/ids/ids.h"
#include "crdt/ids/version.h"
#include "json/codec.h"

namespace quire::cli {

// A peer in a request. It is a type of its own because a PeerId is a plain integer, whose codec
// would take a JSON number.
struct Peer {
    crdt::PeerId id;
};

// A value inside a request: with bytes for {"$bytes": base64}, at any depth. Errors: those of
// json::from_base64(); invalid_argument for a container.
Result<Value> plain(const Value& json);

// {peer: end}, where `end` is the counter after the last known op.
Value to_json(const crdt::VersionVector& version);
// An array of ids in ascending order, so that equal frontiers print equally.
Value to_json(const crdt::Frontiers& frontiers);
// {peer: [start, end]}, or null when there are none. A peer with several spans gets the one that
// covers them all.
Value to_json(const std::vector<crdt::IdSpan>& spans);

}  // namespace quire::cli

namespace quire::json {

// A decimal text; the id that stands for no peer is refused.
template <>
struct Codec<cli::Peer> {
    static Read<cli::Peer> read(const Value& value);
};
// "counter@peer".
template <>
struct Codec<crdt::OpId> {
    static Read<crdt::OpId> read(const Value& value);
};
// "cid:root-NAME:Kind" or "cid:counter@peer:Kind".
template <>
struct Codec<crdt::ContainerId> {
    static Read<crdt::ContainerId> read(const Value& value);
};
// Map, List, Text, Tree, MovableList or Counter.
template <>
struct Codec<crdt::ContainerKind> {
    static Read<crdt::ContainerKind> read(const Value& value);
};
template <>
struct Codec<crdt::VersionVector> {
    static Read<crdt::VersionVector> read(const Value& value);
};
// {id, len}. A span that would end beyond the largest counter ends there.
template <>
struct Codec<crdt::IdSpan> {
    static Read<crdt::IdSpan> read(const Value& value);
};

}  // namespace quire::json
