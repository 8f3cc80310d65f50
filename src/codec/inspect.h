// A summary of a blob, made without a document, for deciding whether to import it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "base/result.h"
#include "crdt/ids/version.h"

namespace quire::codec {

enum class BlobKind { updates, snapshot, shallow_snapshot };

// The summary that Loro gives as well. For updates: the first counter and the end of each peer
// with changes in the blob; the dependencies that the blob does not contain; the timestamps of
// the first and the last change by lamport. For a snapshot: where its history starts (empty,
// unless it was trimmed) and ends, and the largest timestamp at each of the two.
struct BlobInfo {
    BlobKind kind = BlobKind::updates;
    std::map<crdt::PeerId, crdt::Counter> start;  // Zeros are told, too.
    crdt::VersionVector end;
    crdt::Frontiers start_frontiers;
    std::size_t change_count = 0;
    std::int64_t start_timestamp = 0;
    std::int64_t end_timestamp = 0;
};

// Reads the summary. Decodes only those blocks of a snapshot that contain its heads. Errors:
// corrupt; unsupported "unsupported_mode".
Result<BlobInfo> inspect_blob(std::span<const std::uint8_t> blob);

}  // namespace quire::codec
