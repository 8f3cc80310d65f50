// Changes go into blocks of about 4 KiB by a guess at their size. A reader only relies on finding
// each block by its first id. States come as they are; finish() sorts and writes the tables.
//
// Entries that were added take the place of those of the snapshot that the writer began with, by
// key (SsTableWriter::add_all). finish() writes the three sections, whose sizes stand in front of
// them, and seals the envelope with its checksum last.
#include "codec/snapshot_writer.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/check.h"
#include "codec/change_block.h"
#include "codec/container_ids.h"
#include "codec/envelope.h"
#include "codec/small.h"
#include "codec/snapshot_keys.h"

namespace quire::codec {
namespace {

using crdt::ChangeBatch;

// A block ends with the change that brings it here, by a guess at what its ops take.
constexpr std::size_t kChangesSize = 4096;

std::size_t guessed_size(const ChangeBatch::Row& row) {
    constexpr std::size_t kRow = 4;
    if (row.form == ChangeBatch::Form::text) return kRow + row.size;
    if (row.form == ChangeBatch::Form::content) {
        if (const auto* insert = std::get_if<crdt::ListInsert>(row.content))
            return kRow + 4 * insert->values.size();
    }
    return 2 * kRow;
}

std::size_t guessed_size(const ChangeBatch& batch, const ChangeBatch::Head& head) {
    constexpr std::size_t kHeader = 8;
    std::size_t size = kHeader + head.message.size();
    for (const ChangeBatch::Row& row : batch.rows_of(head)) size += guessed_size(row);
    return size;
}

Bytes key_bytes(std::string_view key) {
    return {key.begin(), key.end()};
}

// A peer whose first op is the first of the history stands there with a zero, as in Loro.
Bytes encode_start(const HistoryStart& start) {
    std::map<crdt::PeerId, crdt::Counter> ends = start.end.ends();
    for (const crdt::OpId head : start.heads) ends.try_emplace(head.peer, 0);
    return encode_version(ends);
}

void put_section(ByteWriter& out, std::span<const std::uint8_t> section) {
    out.u32_le(static_cast<std::uint32_t>(section.size()));
    out.append(section);
}

}  // namespace

void SnapshotWriter::add_changes(const ChangeBatch& changes) {
    using Head = ChangeBatch::Head;
    std::vector<Head> sorted = changes.heads;
    std::sort(sorted.begin(), sorted.end(),
              [&](const Head& a, const Head& b) { return changes.id_of(a) < changes.id_of(b); });
    BlockWriter blocks;
    for (auto begin = sorted.begin(); begin != sorted.end();) {
        auto end = begin;
        std::size_t size = 0;
        do {
            size += guessed_size(changes, *end);
            ++end;
        } while (end != sorted.end() && size < kChangesSize && continues(*end, *std::prev(end)));
        ByteWriter block;
        blocks.write(block, changes, {begin, end});
        history_.emplace_back(block_key(changes.id_of(*begin)), std::move(block).take());
        begin = end;
    }
}

void SnapshotWriter::add_block(crdt::OpId first, std::span<const std::uint8_t> block) {
    history_.emplace_back(block_key(first), Bytes(block.begin(), block.end()));
}

Result<void> SnapshotWriter::add_container(Entries& entries, const crdt::ContainerId& id,
                                           Bytes stored) {
    if (!has_container_key(id)) {
        return fail(Errc::out_of_range, "no_container_key",
                    "a snapshot cannot hold a container whose name is longer than 65531 bytes or "
                    "whose kind is above 127");
    }
    entries.emplace_back(container_key(id), std::move(stored));
    return {};
}

Result<void> SnapshotWriter::add_state(const ContainerState& container) {
    ByteWriter out;
    write_container_state(out, container);
    return add_container(state_, container.id, std::move(out).take());
}

Result<void> SnapshotWriter::add_stored_state(const crdt::ContainerId& id,
                                              std::span<const std::uint8_t> stored) {
    return add_container(state_, id, {stored.begin(), stored.end()});
}

Result<void> SnapshotWriter::add_stored_start_state(const crdt::ContainerId& id,
                                                    std::span<const std::uint8_t> stored) {
    return add_container(start_state_, id, {stored.begin(), stored.end()});
}

Result<Bytes> SnapshotWriter::table(Entries entries, const SsTable& kept) {
    std::sort(entries.begin(), entries.end());
    SsTableWriter table(compression_, &pack_room_);
    Budget budget = kept_ == nullptr ? Budget(0) : kept_->budget();
    TRY(table.add_all(kept, entries, budget));
    return std::move(table).finish();
}

Result<Bytes> SnapshotWriter::finish(const crdt::VersionVector& end, const crdt::Frontiers& heads,
                                     const std::optional<HistoryStart>& start) && {
    CHECK(start.has_value() || (start_state_.empty() && !leave_out_state_));
    CHECK(!leave_out_state_ || state_.empty());
    // Only snapshots of whole histories are taken over, as their states need no start.
    CHECK(kept_ == nullptr || !(start || leave_out_state_));
    const SsTable nothing;
    history_.emplace_back(key_bytes(kEndKey), encode_version(end));
    history_.emplace_back(key_bytes(kHeadsKey), encode_frontiers(heads));
    if (start) {
        history_.emplace_back(key_bytes(kStartKey), encode_start(*start));
        history_.emplace_back(key_bytes(kStartHeadsKey), encode_frontiers(start->heads));
        start_state_.emplace_back(key_bytes(kHeadsKey), encode_frontiers(start->heads));
    }
    ByteWriter out;
    begin_envelope(out);
    put_section(out, TRY(table(std::move(history_), kept_ ? kept_->history_table() : nothing)));
    if (leave_out_state_) {
        put_section(out, as_bytes(kNoState));
    } else {
        put_section(out, TRY(table(std::move(state_), kept_ ? kept_->state_table() : nothing)));
    }
    put_section(out, TRY(table(std::move(start_state_), nothing)));
    seal_envelope(out, Mode::snapshot);
    return std::move(out).take();
}

}  // namespace quire::codec
