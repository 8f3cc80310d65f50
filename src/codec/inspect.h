// What a blob holds, without a document: for who decides whether to import it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "base/result.h"
#include "crdt/ids/version.h"

namespace quire::codec {

enum class BlobKind { updates, snapshot, shallow_snapshot };

// As Loro tells it. Of updates: for each peer with changes in the blob the first counter and the
// end; what its changes depend on and it does not hold; the timestamps of the first and the last
// change by lamport. Of a snapshot: where its history starts (nothing, unless it was trimmed) and
// ends, and the largest timestamp at each of the two.
struct BlobInfo {
    BlobKind kind = BlobKind::updates;
    std::map<crdt::PeerId, crdt::Counter> start;  // Zeros are told, too.
    crdt::VersionVector end;
    crdt::Frontiers start_frontiers;
    std::size_t change_count = 0;
    std::int64_t start_timestamp = 0;
    std::int64_t end_timestamp = 0;
};

// Of a snapshot only the blocks of changes at its heads are decoded. Errors: corrupt; unsupported
// "unsupported_mode".
Result<BlobInfo> inspect_blob(std::span<const std::uint8_t> blob);

}  // namespace quire::codec
