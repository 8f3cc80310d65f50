// Writes FastSnapshot blobs (snapshot.h). What came from a snapshot can be put
// in as it was, undecoded.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/snapshot.h"
#include "crdt/ids/change_batch.h"

namespace quire::codec {

class SnapshotWriter {
public:
    explicit SnapshotWriter(Compression compression = Compression::lz4)
        : compression_(compression) {}
    // Begins with all that a snapshot of a whole history holds, which must outlive the writer. What is
    // added takes the place of what has the same key there; the rest is copied as it is encoded.
    SnapshotWriter(const Snapshot& snapshot, Compression compression)
        : compression_(compression), kept_(&snapshot) {}

    // In any order; those of one peer that follow each other share blocks of about 4 KiB.
    void add_changes(const crdt::ChangeBatch& changes);
    void add_block(crdt::OpId first, std::span<const std::uint8_t> block);

    // Errors: out_of_range "no_container_key" for what has no key (container_ids.h).
    Result<void> add_state(const ContainerState& container);
    Result<void> add_stored_state(const crdt::ContainerId& id,
                                  std::span<const std::uint8_t> stored);
    Result<void> add_stored_start_state(const crdt::ContainerId& id,
                                        std::span<const std::uint8_t> stored);
    // For a trimmed history: writes no state, so that readers replay the history from its start.
    void leave_out_state() { leave_out_state_ = true; }

    // CHECKs that nothing was put in twice. `start` for a trimmed history. Errors: out_of_range
    // "snapshot_too_large" beyond 4 GiB; corrupt for a part of the snapshot before that cannot be read.
    Result<Bytes> finish(const crdt::VersionVector& end, const crdt::Frontiers& heads,
                         const std::optional<HistoryStart>& start = std::nullopt) &&;

private:
    using Entries = SsTableWriter::Entries;

    Result<void> add_container(Entries& entries, const crdt::ContainerId& id, Bytes stored);
    Result<Bytes> table(Entries entries, const SsTable& kept);

    Compression compression_;
    const Snapshot* kept_ = nullptr;
    Entries history_;
    Entries state_;
    Entries start_state_;
    bool leave_out_state_ = false;
    std::size_t pack_room_ = kMostPacked;  // For all tables together.
};

}  // namespace quire::codec
