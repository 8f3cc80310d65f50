// Documents as shallow snapshots: the state at one version, and the history since then
// (crdt/doc/shallow.h). What was deleted before is not in the bytes.
//
// The state holds what shows, and what later edits could bring back: erased nodes of trees with
// what they hold, and mergeable children. Everything else that was deleted is left out.
//
// CHECKs that no transaction is pending. O(history): the state at an earlier version is computed
// from its history. Errors: not_found "unknown_version"; unsupported "shallow_snapshot" for a
// version before the start of a shallow document; those of encode_snapshot().
#pragma once

#include "base/result.h"
#include "codec/sstable.h"
#include "crdt/ids/version.h"

namespace quire::crdt {
class Doc;
}

namespace quire::codec {

// Encodes the document from `version` on, or from where start_for() moves that. A history that
// cannot begin later than at its beginning comes out whole, in the form of a shallow snapshot. So does one that goes
// on to edit a container or an element that had been deleted by then, for which the state holds no place, and one in
// which a container of a kind that newer programs have was there by then: its state is not known here.
Result<Bytes> encode_shallow_snapshot(const crdt::Doc& doc, const crdt::Frontiers& version,
                                      Compression compression = Compression::lz4);

// Encodes the document at `version` with as little history as that can be told with: its last op,
// or what is concurrent in it.
Result<Bytes> encode_state_only(const crdt::Doc& doc, const crdt::Frontiers& version,
                                Compression compression = Compression::lz4);

}  // namespace quire::codec
