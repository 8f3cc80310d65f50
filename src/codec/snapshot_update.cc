// The blob that the document was opened from is kept, and the new one is made of its bytes. Only
// two things are encoded: changes since the opening, and the states of containers they touched.
#include "codec/snapshot_update.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "codec/change_block.h"
#include "codec/document_snapshot.h"
#include "codec/snapshot.h"
#include "codec/snapshot_writer.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/opening.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::Doc;

// Blocks that are smaller take in what follows. Otherwise each save would leave another small block.
constexpr std::size_t kSmallBlock = 2048;

// The changes that were made since the opening, and with them the last blocks of their peers that
// have room.
Result<void> add_changes(const Doc& doc, const Snapshot& before, SnapshotWriter& writer) {
    Budget budget = before.budget();
    crdt::ChangeBatch batch;
    std::vector<Snapshot::Block> blocks;  // The batch views them.
    std::vector<crdt::IdSpan> made;
    for (const auto& [peer, end] : doc.history().version().ends()) {
        const crdt::Counter known = before.end().end_of(peer);
        if (end == known) continue;
        made.push_back({peer, known, end});
        if (known == 0) continue;
        Snapshot::Block last = TRY(before.block_of({peer, known - 1}, budget));
        if (last.stored.bytes.size() >= kSmallBlock) continue;
        TRY(read_block(ByteReader(last.stored.bytes), budget, batch));
        blocks.push_back(std::move(last));
    }
    doc.changes_in(made, batch);
    // The rewritten last block has the key of the old one, and so replaces it.
    writer.add_changes(batch);
    return {};
}

// The states of the containers that were written to since the opening. Returns false if one of them
// cannot be told without the history.
Result<bool> add_states(const Doc& doc, const Snapshot& before, SnapshotWriter& writer) {
    Budget budget = before.budget();
    const auto known = [&](const ContainerId& id) -> std::optional<ContainerHeader> {
        // Every state of the snapshot was decoded when it was opened.
        const auto stored = before.stored_state(id, budget);
        if (!stored || !*stored) return std::nullopt;
        const auto header = read_container_header(id, (*stored)->bytes);
        return header ? std::optional(*header) : std::nullopt;
    };
    const auto inspection = crdt::Inspection::without_history(doc);
    const std::vector<crdt::Handle> written = inspection.written_since_opening();
    const std::vector<ContainerState> states = container_states(doc, inspection, written, known);
    // A container whose place only the history tells was left out by container_states().
    if (states.size() != written.size()) return false;
    for (const ContainerState& state : states) TRY(writer.add_state(state));
    return true;
}

}  // namespace

Result<std::optional<Bytes>> update_snapshot(const Doc& doc, Compression compression) {
    CHECK(doc.pending().empty());
    const crdt::UnreadHistory* unread = doc.history().unread();
    if (unread == nullptr || unread->source->snapshot().empty()) return std::nullopt;
    const std::span<const std::uint8_t> blob = unread->source->snapshot();
    // Nothing was committed since: the bytes are the answer.
    if (doc.history().version() == unread->end) return Bytes(blob.begin(), blob.end());
    const Snapshot before = TRY(Snapshot::open(blob));
    if (before.start()) return std::nullopt;
    // Damage in blocks that are copied undecoded would otherwise be carried on from save to save.
    TRY(before.verify_changes());
    SnapshotWriter writer(before, compression);
    TRY(add_changes(doc, before, writer));
    if (!TRY(add_states(doc, before, writer))) return std::nullopt;
    return TRY(std::move(writer).finish(doc.history().version(), doc.history().frontiers()));
}

}  // namespace quire::codec
