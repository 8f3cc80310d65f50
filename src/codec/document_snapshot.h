// A document as a snapshot: all of its history, and the state of every container after all of it,
// as a replay of that history gives it. What is deleted is there too where an edit to come could
// bring it back.
#pragma once

#include "base/result.h"
#include "base/value.h"
#include "codec/sstable.h"

namespace quire::crdt {
class Doc;
}

namespace quire::codec {

struct ContainerState;

// The snapshot is of the latest version, whatever version is checked out. A shallow document becomes
// a shallow snapshot with the same start (shallow_snapshot.h). CHECKs that no transaction is pending. O(history). Errors: out_of_range "no_container_key" for a container
// that a snapshot has no room for (snapshot_writer.h), "snapshot_too_large" beyond 4 GiB.
Result<Bytes> encode_snapshot(const crdt::Doc& doc, Compression compression = Compression::lz4);

// The state of each container that was written to and can be reached from a root, at least by what
// was there once.
std::vector<ContainerState> container_states(const crdt::Doc& doc);

}  // namespace quire::codec
