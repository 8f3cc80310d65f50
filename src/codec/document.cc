#include "codec/document.h"

#include <algorithm>
#include <iterator>

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

Result<History> read_history(std::span<const std::uint8_t> blob) {
    const Envelope envelope = TRY(open_envelope(blob));
    if (envelope.mode == Mode::updates) return History{TRY(decode_updates(blob)), false};
    const Snapshot snapshot = TRY(Snapshot::open(blob));
    TRY(snapshot.verify_states());
    return History{TRY(snapshot.changes()), snapshot.start().has_value()};
}

}  // namespace

Result<std::vector<Change>> decode_history(std::span<const std::uint8_t> blob) {
    History history = TRY(read_history(blob));
    return std::move(history.changes);
}

Result<std::vector<Change>> decode_for_import(std::span<const Bytes> blobs,
                                              const crdt::VersionVector& known) {
    std::vector<Change> all;
    bool trimmed = !blobs.empty();
    for (const Bytes& blob : blobs) {
        History history = TRY(read_history(blob));
        trimmed = trimmed && history.is_trimmed;
        if (all.empty()) {
            all = std::move(history.changes);
        } else {
            std::move(history.changes.begin(), history.changes.end(), std::back_inserter(all));
        }
    }
    if (trimmed && known.empty()) {
        return fail(Errc::unsupported, "shallow_snapshot",
                    "this snapshot begins in the middle of its history, and a document cannot be "
                    "opened from such a one yet; import a full snapshot or updates first");
    }
    return all;
}

}  // namespace quire::codec
