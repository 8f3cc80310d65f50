// Updates are read where they are, as views. A snapshot's blocks are decompressed into memory that
// does not last, so its changes are made objects first, which the batch then views.
//
// A document takes several blobs as one batch, so that changes in one may depend on another's, and
// an error in any refuses all. A trimmed history needs its start: from the document, or from
// another blob that holds the ops it begins with.
#include "codec/document.h"

#include <algorithm>

#include "codec/envelope.h"
#include "codec/snapshot.h"
#include "codec/updates.h"

namespace quire::codec {

using crdt::Change;

namespace {

struct History {
    std::vector<Change> changes;
    crdt::Frontiers start;  // Empty unless it was trimmed.
};

Result<bool> is_updates(std::span<const std::uint8_t> blob) {
    return TRY(open_envelope(blob)).mode == Mode::updates;
}

// The states are decoded and dropped, to refuse a blob that is damaged there.
Result<History> read_snapshot(std::span<const std::uint8_t> blob) {
    const Snapshot snapshot = TRY(Snapshot::open(blob));
    TRY(snapshot.verify_states());
    History history{TRY(snapshot.changes()), {}};
    if (snapshot.start()) history.start = snapshot.start()->heads;
    return history;
}

// A trimmed history, as a part of a batch.
struct Trimmed {
    std::size_t blob;
    crdt::Frontiers start;
    std::size_t begin;  // Its changes.
    std::size_t end;
};

struct Collected {
    BlobHistories histories;
    std::vector<Trimmed> trimmed;
};

Result<Collected> collect(std::span<const Bytes> blobs) {
    Collected all;
    crdt::ChangeBatch& batch = all.histories.batch;
    for (std::size_t i = 0; i < blobs.size(); ++i) {
        if (TRY(is_updates(blobs[i]))) {
            TRY(read_updates(blobs[i], batch));
            continue;
        }
        History history = TRY(read_snapshot(blobs[i]));
        const std::size_t begin = batch.heads.size();
        all.histories.decoded.push_back(std::move(history.changes));
        for (const Change& change : all.histories.decoded.back()) batch.append(change);
        if (!history.start.empty())
            all.trimmed.push_back({i, std::move(history.start), begin, batch.heads.size()});
    }
    return all;
}

// Returns true if the start of a trimmed history is known, or another blob brings it. One that begins
// there too does not bring what came before.
// O(starts · changes), and there are few starts.
bool has_start(const Collected& all, const Trimmed& trimmed, const crdt::VersionVector& known) {
    const crdt::ChangeBatch& batch = all.histories.batch;
    const auto brings = [&](std::size_t change, crdt::OpId id) {
        const crdt::ChangeBatch::Head& head = batch.heads[change];
        return batch.peers[head.peer] == id.peer && head.counter <= id.counter &&
               id.counter < head.end() &&
               std::none_of(all.trimmed.begin(), all.trimmed.end(), [&](const Trimmed& other) {
                   return change >= other.begin && change < other.end &&
                          std::find(other.start.begin(), other.start.end(), id) !=
                              other.start.end();
               });
    };
    return std::all_of(trimmed.start.begin(), trimmed.start.end(), [&](crdt::OpId id) {
        if (known.includes(id)) return true;
        for (std::size_t i = 0; i < batch.heads.size(); ++i) {
            if (brings(i, id)) return true;
        }
        return false;
    });
}

}  // namespace

Result<std::vector<Change>> decode_history(std::span<const std::uint8_t> blob) {
    if (TRY(is_updates(blob))) return TRY(decode_updates(blob)).changes();
    History history = TRY(read_snapshot(blob));
    return std::move(history.changes);
}

Result<BlobHistories> read_histories(std::span<const Bytes> blobs,
                                     const crdt::VersionVector& known) {
    Collected all = TRY(collect(blobs));
    for (const Trimmed& trimmed : all.trimmed) {
        if (has_start(all, trimmed, known)) continue;
        return fail(
            Errc::unsupported, "shallow_snapshot",
            "this shallow snapshot begins after what the document has, and continues nothing "
            "that is here; import it into an empty document, or import a full snapshot or "
            "updates first; nothing was changed");
    }
    return std::move(all.histories);
}

Result<std::optional<std::size_t>> first_to_open(std::span<const Bytes> blobs) {
    const Collected all = TRY(collect(blobs));
    for (const Trimmed& trimmed : all.trimmed) {
        if (!has_start(all, trimmed, {})) return trimmed.blob;
    }
    return std::nullopt;
}

}  // namespace quire::codec
