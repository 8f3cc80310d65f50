// A document as a snapshot: all of its history, and the state of every container after all of it,
// as a replay of that history gives it. What is deleted is there too where an edit to come could
// bring it back.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "codec/container_state.h"
#include "codec/sstable.h"
#include "crdt/doc/container_view.h"

namespace quire::crdt {
class Inspection;
}

namespace quire::codec {

// The snapshot is of the latest version, whatever version is checked out. A shallow document becomes
// a shallow snapshot with the same start (shallow_snapshot.h). CHECKs that no transaction is pending. O(history). Errors: out_of_range "no_container_key" for a container
// that a snapshot has no room for (snapshot_writer.h), "snapshot_too_large" beyond 4 GiB.
Result<Bytes> encode_snapshot(const crdt::Doc& doc, Compression compression = Compression::lz4);

// The state of each container that was written to and can be reached from a root, at least by what
// was there once. Also an empty map for each node of a tree that is named after an op of another
// container; no other map is without registers.
std::vector<ContainerState> container_states(const crdt::Doc& doc);

// Returns the states of some containers, as an inspection tells them. `known` may tell where a container lies
// that the caller knows; it returns none for others, and may be empty.
using KnownPlace = Function<std::optional<ContainerHeader>(const crdt::ContainerId&)>;
std::vector<ContainerState> container_states(const crdt::Doc& doc,
                                             const crdt::Inspection& inspection,
                                             std::span<const crdt::Handle> of, KnownPlace known);

}  // namespace quire::codec
