// Says of a blob what can be said without a document: its versions, times and counts.
//
// Updates have no summary of their own, so they are decoded whole. A snapshot has its versions in
// front, and its number of changes in the headers of its blocks.
#include "codec/inspect.h"

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "codec/change_block.h"
#include "codec/envelope.h"
#include "codec/snapshot.h"
#include "codec/updates.h"

namespace quire::codec {
namespace {

using crdt::Change;

Result<BlobInfo> inspect_updates(std::span<const std::uint8_t> blob) {
    std::vector<Change> changes = TRY(decode_updates(blob)).changes();
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.lamport < b.lamport; });
    BlobInfo info;
    std::map<crdt::PeerId, crdt::Counter>& starts = info.start;
    for (const Change& change : changes) {
        const auto [at, is_new] = starts.try_emplace(change.id.peer, change.id.counter);
        if (!is_new) at->second = std::min(at->second, change.id.counter);
        info.end.extend(change.id.peer, change.id.counter + crdt::atom_count(change));
    }
    // One id a peer: an earlier one is an ancestor of it.
    crdt::VersionVector before;
    for (const Change& change : changes) {
        for (const crdt::OpId dep : change.deps) {
            const auto start = starts.find(dep.peer);
            if (start == starts.end() || dep.counter < start->second)
                before.extend(dep.peer, dep.counter + 1);
        }
    }
    for (const auto& [peer, end] : before.ends()) info.start_frontiers.push_back({peer, end - 1});
    info.change_count = changes.size();
    if (!changes.empty()) {
        info.start_timestamp = changes.front().timestamp;
        info.end_timestamp = changes.back().timestamp;
    }
    return info;
}

Result<std::int64_t> latest_timestamp(const Snapshot& snapshot, const crdt::Frontiers& heads) {
    std::int64_t latest = 0;
    for (const crdt::OpId head : heads)
        latest = std::max(latest, TRY(snapshot.moment_of(head)).timestamp);
    return latest;
}

Result<BlobInfo> inspect_snapshot(std::span<const std::uint8_t> blob) {
    const Snapshot snapshot = TRY(Snapshot::open(blob));
    BlobInfo info;
    info.kind = BlobKind::snapshot;
    info.end = snapshot.end();
    if (snapshot.start()) {
        info.kind = BlobKind::shallow_snapshot;
        info.start = snapshot.start()->end.ends();
        info.start_frontiers = snapshot.start()->heads;
        info.start_timestamp = TRY(latest_timestamp(snapshot, info.start_frontiers));
    }
    info.end_timestamp = TRY(latest_timestamp(snapshot, snapshot.heads()));
    Budget budget = snapshot.budget();
    TRY(snapshot.each_block(budget,
                            [&](crdt::OpId, std::span<const std::uint8_t> block) -> Result<void> {
                                info.change_count += change_count(ByteReader(block));
                                return {};
                            }));
    return info;
}

}  // namespace

Result<BlobInfo> inspect_blob(std::span<const std::uint8_t> blob) {
    const Envelope envelope = TRY(open_envelope(blob));
    return envelope.mode == Mode::updates ? inspect_updates(blob) : inspect_snapshot(blob);
}

}  // namespace quire::codec
