// The forms of the engine's arguments and results as JSON (json/codec.h).
//
// Peers are decimal strings, an id is "counter@peer", frontiers are arrays of ids, a version vector
// is {peer: end}, bytes are base64; inside values bytes are {"$bytes": base64}.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "crdt/ids/ids.h"
#include "crdt/ids/version.h"
#include "json/codec.h"

namespace quire::cli {

struct Peer {
    crdt::PeerId id;
};

// A value inside a request: with bytes for {"$bytes": base64}, at any depth. Errors: those of
// json::from_base64(); invalid_argument for a container.
Result<Value> plain(const Value& json);

Value to_json(const crdt::VersionVector& version);
Value to_json(const crdt::Frontiers& frontiers);
// {peer: [start, end]}, or null when there are none.
Value to_json(const std::vector<crdt::IdSpan>& spans);

}  // namespace quire::cli

namespace quire::json {

template <>
struct Codec<cli::Peer> {
    static Read<cli::Peer> read(const Value& value);
};
template <>
struct Codec<crdt::OpId> {
    static Read<crdt::OpId> read(const Value& value);
};
template <>
struct Codec<crdt::ContainerId> {
    static Read<crdt::ContainerId> read(const Value& value);
};
template <>
struct Codec<crdt::ContainerKind> {
    static Read<crdt::ContainerKind> read(const Value& value);
};
template <>
struct Codec<crdt::VersionVector> {
    static Read<crdt::VersionVector> read(const Value& value);
};
// {id, len}.
template <>
struct Codec<crdt::IdSpan> {
    static Read<crdt::IdSpan> read(const Value& value);
};

}  // namespace quire::json
