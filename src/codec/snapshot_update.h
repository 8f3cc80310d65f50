// Saving a document that was opened from a snapshot and whose history was not read since: what did
// not change is copied as it is encoded there.
//
//     opened   [ blocks of changes ....... ][ states ......................... ]
//     saved    [ the same ........ ][ new ][ the same, but of what was edited ]
//
// A block of changes never changes, except that the last one of a peer takes in what the peer went on
// to write. A state changes if its container was written to.
#pragma once

#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/sstable.h"

namespace quire::crdt {
class Doc;
}

namespace quire::codec {

// The document as a snapshot. None if its history was read, and if it is shallow and was edited; then
// it has to be encoded anew. CHECKs that no transaction is pending. What is copied keeps its
// compression. A document that is as it was opened becomes the bytes that it was opened from.
// Otherwise every block of changes is decoded once, so that new changes are not put behind damaged
// ones: O(history). Errors: those of encode_snapshot(); corrupt.
Result<std::optional<Bytes>> update_snapshot(const crdt::Doc& doc, Compression compression);

}  // namespace quire::codec
