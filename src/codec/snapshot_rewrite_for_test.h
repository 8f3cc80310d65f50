// Everything in a snapshot, decoded and written anew.
#pragma once

#include <span>
#include <vector>

#include "codec/snapshot.h"
#include "codec/snapshot_writer.h"

namespace quire::codec {

inline Result<void> rewrite_start(const Snapshot& snapshot, SnapshotWriter& writer) {
    Budget budget = snapshot.budget();
    const std::vector<crdt::ContainerId> ids = TRY(snapshot.start_containers(budget));
    for (const crdt::ContainerId& id : ids) {
        const auto stored = TRY(snapshot.stored_start_state(id, budget));
        const ContainerState state = TRY(read_container_state(id, stored->bytes, budget));
        ByteWriter out;
        write_container_state(out, state);
        TRY(writer.add_stored_start_state(id, out.bytes()));
    }
    return {};
}

inline Result<Bytes> rewritten(std::span<const std::uint8_t> blob, Compression compression) {
    const Snapshot snapshot = TRY(Snapshot::open(blob));
    TRY(snapshot.verify());
    SnapshotWriter writer(compression);
    {
        const std::vector<crdt::Change> changes = TRY(snapshot.changes());
        writer.add_changes(changes);
    }
    TRY(rewrite_start(snapshot, writer));
    if (snapshot.start() && snapshot.state_version() != snapshot.heads()) {
        writer.leave_out_state();
    } else {
        Budget budget = snapshot.budget();
        const std::vector<crdt::ContainerId> ids = TRY(snapshot.containers(budget));
        for (const crdt::ContainerId& id : ids) {
            const auto state = TRY(snapshot.state(id, budget));
            TRY(writer.add_state(*state));
        }
    }
    return std::move(writer).finish(snapshot.end(), snapshot.heads(), snapshot.start());
}

}  // namespace quire::codec
