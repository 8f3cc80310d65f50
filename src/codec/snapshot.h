// Loro's FastSnapshot blobs (mode 3), opened: history and state as tables, from which each block of
// changes and each container is decoded when it is asked for. docs/formats/snapshot.md is the page.
//
//   envelope (envelope.h)
//   u32le size, history   a table (sstable.h)
//       "vv"              where the history ends (small.h)
//       "fr"              its heads
//       "sv", "sf"        the same of where it begins, when it was trimmed
//       u64be peer, u32be counter of the first atom: a block (change_block.h)
//   u32le size, state     a table of containers (container_state.h) at the history's end; of a
//                         trimmed history what differs from its start, or "E": replay it
//   u32le size, start     nothing; of a trimmed history the table of containers at its start, and
//       "fr"              its heads
//
// Opening verifies the envelope with its checksum, the framing, the tables of blocks and the
// versions. A table's block is checked when something in it is read; verify() reads everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "codec/budget.h"
#include "codec/container_state.h"
#include "codec/sstable.h"
#include "crdt/ids/change.h"
#include "crdt/ids/version.h"

namespace quire::codec {

// The start of a trimmed history. It does not contain the atoms that `end` includes. It begins
// with the atoms of `heads`, so `end` stops just before them.
struct HistoryStart {
    crdt::VersionVector end;
    crdt::Frontiers heads;
    friend bool operator==(const HistoryStart&, const HistoryStart&) = default;
};

// Reads a blob that outlives it; one thread at a time. Every error is `corrupt`, but for open()'s.
//
// Budgets: budget() is what the blob may allocate in all, so whatever of it is alive at once is
// decoded with one budget, which the snapshot outlives where it is. changes() and verify() bring their own.
class Snapshot final : private Reserve {
public:
    // Errors: corrupt; unsupported "unsupported_mode" for anything but a snapshot.
    static Result<Snapshot> open(std::span<const std::uint8_t> blob);

    const crdt::VersionVector& end() const { return end_; }
    const crdt::Frontiers& heads() const { return heads_; }
    const std::optional<HistoryStart>& start() const { return start_; }
    Budget budget() const { return budget_.with(*this); }

    // --- history ---

    // A block as it stands in the blob, and its first atom by its key.
    using BlockVisitor =
        Function<Result<void>(crdt::OpId first, std::span<const std::uint8_t> block)>;
    // In order of peer and counter. Stops at the visitor's first error.
    Result<void> each_block(Budget& budget, BlockVisitor visit) const;
    // All of it. Each peer's changes go from where it begins to where it ends without a gap.
    Result<std::vector<crdt::Change>> changes() const;
    // The changes with atoms in `span`, whole: the first may begin before it and the last end after
    // it. No other block is decoded.
    Result<std::vector<crdt::Change>> changes_in(const crdt::IdSpan& span, Budget& budget) const;

    // The block that holds an atom. Errors: also if there is none.
    struct Block {
        crdt::OpId first;  // The first atom, told by the key.
        Stored stored;
    };
    Result<Block> block_of(crdt::OpId id, Budget& budget) const;

    // When an atom was made. No op is decoded.
    struct Moment {
        crdt::Lamport lamport = 0;
        std::int64_t timestamp = 0;  // The timestamp of its change.
    };
    Result<Moment> moment_of(crdt::OpId id) const;

    // Checks every block of the history against its checksum, without decoding any. O(bytes).
    Result<void> verify_history() const { return history_.verify(); }
    // Decodes every block once, and keeps nothing. Checks also that the history holds what its changes
    // depend on, and ends at heads(). Errors: those of changes().
    Result<void> verify_changes() const;
    const SsTable& history_table() const { return history_; }

    // --- state ---

    // The version that the state is of: heads(), or start()->heads when history has to be replayed
    // from there. None when the blob has a history and no state: all of it has to be replayed.
    std::optional<crdt::Frontiers> state_version() const;
    // Sorted by key. A container that holds nothing may be missing.
    Result<std::vector<crdt::ContainerId>> containers(Budget& budget) const;
    // The containers at the start of a trimmed history.
    Result<std::vector<crdt::ContainerId>> start_containers(Budget& budget) const;
    // The bytes at a container's key. None when it has none.
    Result<std::optional<Stored>> stored_state(const crdt::ContainerId& id, Budget& budget) const;
    Result<std::optional<Stored>> stored_start_state(const crdt::ContainerId& id,
                                                     Budget& budget) const;
    // Those states, decoded.
    Result<std::optional<ContainerState>> state(const crdt::ContainerId& id, Budget& budget) const;
    Result<std::optional<ContainerState>> start_state(const crdt::ContainerId& id,
                                                      Budget& budget) const;

    // The table of the containers at the end; of a trimmed history those that its start does not tell.
    const SsTable& state_table() const { return state_; }

    // Each decodes it once, and keeps nothing: the states, or everything.
    Result<void> verify_states() const;
    Result<void> verify() const;

private:
    explicit Snapshot(std::size_t blob_size) : blob_size_(blob_size), budget_(blob_size) {}
    std::size_t bytes() const override;  // Its reserve.
    Result<void> read_versions();
    Result<void> read_start();
    Result<Stored> required(const SsTable& table, std::string_view key);
    Result<crdt::VersionVector> version_at(std::string_view key);
    Result<crdt::Frontiers> heads_at(const SsTable& table, std::string_view key);

    std::size_t blob_size_;
    Budget budget_;
    mutable std::optional<std::size_t> reserve_;  // Once it was asked for.
    std::unique_ptr<BlockCache> cache_ = std::make_unique<BlockCache>();
    crdt::VersionVector end_;
    crdt::Frontiers heads_;
    std::optional<HistoryStart> start_;
    SsTable history_;
    SsTable state_;
    SsTable start_state_;
    bool replay_ = false;  // The state was left out.
};

}  // namespace quire::codec
