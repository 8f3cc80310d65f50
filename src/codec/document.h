// Documents and blobs: what of a blob goes into a document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "crdt/ids/change_batch.h"
#include "crdt/ids/version.h"

namespace quire::codec {

// The history in a blob of either mode, for Doc::import(). Of a trimmed history, that is what
// follows its start. Whatever else a snapshot holds is decoded too, so that what is damaged is
// refused, and dropped: history decides what the state is.
// Errors: corrupt; unsupported "unsupported_mode".
Result<std::vector<crdt::Change>> decode_history(std::span<const std::uint8_t> blob);

// The histories of several blobs as one batch for Doc::import(). It views the blobs, which must
// outlive it, and `decoded`.
struct BlobHistories {
    crdt::ChangeBatch batch;
    std::vector<std::vector<crdt::Change>> decoded;  // The decoded histories of snapshots.
};

// For an import into a document at version `known`. Errors: as decode_history(); unsupported
// "shallow_snapshot" for a shallow snapshot whose start is neither known nor in another blob.
// (open_snapshot.h makes an empty document shallow.)
Result<BlobHistories> read_histories(std::span<const Bytes> blobs,
                                     const crdt::VersionVector& known);

// The place of a shallow snapshot among the blobs that an empty document must open before it imports
// the others; none if there is no such one. Errors: as decode_history().
Result<std::optional<std::size_t>> first_to_open(std::span<const Bytes> blobs);

}  // namespace quire::codec
