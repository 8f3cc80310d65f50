// Updates are read where they are, as views. A snapshot's blocks are decompressed into memory that
// does not last, so its changes are made objects first, which the batch then views.
#include "codec/document.h"

#include "codec/envelope.h"
#include "codec/snapshot.h"
#include "codec/updates.h"

namespace quire::codec {

using crdt::Change;

namespace {

struct History {
    std::vector<Change> changes;
    bool is_trimmed = false;
};

Result<bool> is_updates(std::span<const std::uint8_t> blob) {
    return TRY(open_envelope(blob)).mode == Mode::updates;
}

Result<History> read_snapshot(std::span<const std::uint8_t> blob) {
    const Snapshot snapshot = TRY(Snapshot::open(blob));
    TRY(snapshot.verify_states());
    return History{TRY(snapshot.changes()), snapshot.start().has_value()};
}

}  // namespace

Result<std::vector<Change>> decode_history(std::span<const std::uint8_t> blob) {
    if (TRY(is_updates(blob))) return TRY(decode_updates(blob)).changes();
    History history = TRY(read_snapshot(blob));
    return std::move(history.changes);
}

Result<BlobHistories> read_histories(std::span<const Bytes> blobs,
                                     const crdt::VersionVector& known) {
    BlobHistories all;
    bool trimmed = !blobs.empty();
    for (const Bytes& blob : blobs) {
        if (TRY(is_updates(blob))) {
            trimmed = false;
            TRY(read_updates(blob, all.batch));
            continue;
        }
        History history = TRY(read_snapshot(blob));
        trimmed = trimmed && history.is_trimmed;
        all.decoded.push_back(std::move(history.changes));
        for (const Change& change : all.decoded.back()) all.batch.append(change);
    }
    if (trimmed && known.empty()) {
        return fail(Errc::unsupported, "shallow_snapshot",
                    "this snapshot begins in the middle of its history, and a document cannot be "
                    "opened from such a one yet; import a full snapshot or updates first");
    }
    return all;
}

}  // namespace quire::codec
