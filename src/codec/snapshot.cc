// A snapshot is three tables of sorted keys (sstable.h): history by block, states by container, and
// for a trimmed history the states at its start. Opening reads indexes and versions only. Blocks
// and states are decoded when they are asked for, each charged to a budget, so that a small blob
// cannot be made to take much memory.
//
//     open()            envelope, three tables of blocks, versions          O(blocks)
//     state(id)         one block of the table, one container               O(log n + block)
//     changes()         every block of changes, in order of peer            O(history)
//     verify_changes()  the same, keeping nothing
//
// A blob may lie at every level: a key may name another block than it holds, blocks may leave gaps,
// and the version may claim what no block has. Coverage and Dependencies check that while blocks
// are decoded one after another, so that memory is taken for one block at a time.
#include "codec/snapshot.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "codec/change_block.h"
#include "codec/container_ids.h"
#include "codec/envelope.h"
#include "codec/small.h"
#include "codec/snapshot_keys.h"

namespace quire::codec {
namespace {

using crdt::Change;
using crdt::ChangeBatch;

Result<crdt::ContainerId> container_at(const SsTable::Cursor& cursor) {
    auto id = read_container_key(cursor.key());
    if (!id) return Failure(std::move(id).error().within("the table of states"));
    return id;
}

// The containers of a table, in order.
Result<void> add_containers(const SsTable& table, Budget& budget,
                            std::vector<crdt::ContainerId>& out) {
    for (SsTable::Cursor cursor = TRY(table.begin(budget)); !cursor.at_end(); TRY(cursor.next())) {
        if (as_text(cursor.key()) == kHeadsKey) continue;
        crdt::ContainerId id = TRY(container_at(cursor));
        const std::size_t name = id.is_root() ? id.root_name().size() : 0;
        // A vector that doubles holds the old and the new at once.
        if (!budget.take(3 * sizeof(id)) || !budget.take_string(name)) {
            return corrupt("the table of states has more containers than its size allows");
        }
        out.push_back(std::move(id));
    }
    return {};
}

// Follows the blocks of one peer after another, and refuses a gap, and a step back in time. Keys
// come sorted by peer and counter, so each peer's blocks are met side by side.
class Coverage {
public:
    explicit Coverage(const Snapshot& snapshot) : snapshot_(snapshot) {}

    // `block` holds the changes of one block and nothing else.
    Result<void> add(crdt::OpId key, const ChangeBatch& block) {
        if (block.id_of(block.heads.front()) != key)
            return corrupt(cat("the block at ", name(key), " begins elsewhere"));
        if (!next_ || key.peer != next_->peer) {
            TRY(end_peer());
            next_ = crdt::OpId{key.peer, begin_of(key.peer)};
            lamport_ = 0;
            ++peers_;
        }
        // A block that begins too early would overlap the one before; the same error names the
        // place.
        if (key != *next_) return corrupt(cat("the history has no block at ", name(*next_)));
        for (const ChangeBatch::Head& change : block.heads) {
            if (change.lamport < lamport_) {
                return corrupt(cat("the change at ", name(block.id_of(change)),
                                   " is older than its own peer's last"));
            }
            lamport_ = std::uint64_t{change.lamport} + static_cast<std::uint64_t>(change.atoms);
            next_->counter = change.end();
        }
        return {};
    }

    Result<void> finish() {
        TRY(end_peer());
        std::size_t expected = 0;
        for (const auto& [peer, end] : snapshot_.end().ends())
            // A peer all of whose changes were trimmed has no block.
            expected += end > begin_of(peer) ? 1 : 0;
        if (peers_ != expected)
            return corrupt("the history has no block of a peer that its version names");
        return {};
    }

private:
    static std::string name(crdt::OpId id) { return cat(id.counter, "@", id.peer); }
    crdt::Counter begin_of(crdt::PeerId peer) const {
        return snapshot_.start() ? snapshot_.start()->end.end_of(peer) : 0;
    }
    Result<void> end_peer() const {
        if (next_ && next_->counter != snapshot_.end().end_of(next_->peer)) {
            return corrupt(
                cat("the history of a peer ends at ", name(*next_), ", its version elsewhere"));
        }
        return {};
    }

    const Snapshot& snapshot_;
    std::optional<crdt::OpId> next_;
    std::uint64_t lamport_ = 0;  // The least that the peer's next change may have.
    std::size_t peers_ = 0;
};

// Follows which changes others depend on. Every dependency has to be in the history, and the peers
// whose last change nobody depends on have to be the heads.
class Dependencies {
public:
    explicit Dependencies(const Snapshot& snapshot) : snapshot_(snapshot) {}

    // `block` holds the changes of one block and nothing else.
    Result<void> add(const ChangeBatch& block) {
        ends_.clear();
        for (const crdt::PeerId peer : block.peers.items())
            ends_.push_back(snapshot_.end().end_of(peer));
        for (const ChangeBatch::Dep& dep : block.deps) {
            const crdt::Counter end = ends_[dep.peer];
            if (dep.counter >= end)
                return corrupt("the history depends on changes that it does not hold");
            // A dependency on an earlier atom of the peer leaves its last change a head.
            if (dep.counter + 1 == end) followed_.insert(block.peers[dep.peer]);
        }
        return {};
    }

    // A peer's last change is a head if no other depends on it.
    Result<void> finish() const {
        if (snapshot_.start()) return {};  // A change that depends on it may be trimmed.
        crdt::Frontiers heads;
        for (const auto& [peer, end] : snapshot_.end().ends()) {
            if (end > 0 && !followed_.contains(peer)) heads.push_back({peer, end - 1});
        }
        if (heads != snapshot_.heads())
            return corrupt("the history ends elsewhere than its version");
        return {};
    }

private:
    const Snapshot& snapshot_;
    std::unordered_set<crdt::PeerId> followed_;
    std::vector<crdt::Counter> ends_;  // Those of the block's peers.
};

// Reads a block into an empty batch, which views it.
Result<void> read_changes(crdt::OpId key, std::span<const std::uint8_t> block, Budget& budget,
                          ChangeBatch& out) {
    auto read = read_block(ByteReader(block), budget, out);
    // The ops are charged already; the rows that they are made from are there beside them.
    if (read && !budget.take_heap(out.rows.size() * sizeof(ChangeBatch::Row)))
        read = corrupt("more operations than the blob can hold");
    if (read) return {};
    return Failure(std::move(read).error().within(
        cat("the block of changes at ", key.counter, "@", key.peer)));
}

// Moves the changes of a block out of its batch: what the batch views may be gone after it.
void add_changes(ChangeBatch block, std::vector<Change>& out) {
    std::vector<Change> changes = std::move(block).changes();
    std::move(changes.begin(), changes.end(), std::back_inserter(out));
}

}  // namespace

Result<Snapshot> Snapshot::open(std::span<const std::uint8_t> blob) {
    Envelope envelope = TRY(open_envelope(blob));
    if (envelope.mode != Mode::snapshot) {
        return fail(Errc::unsupported, "unsupported_mode", "this blob is updates, not a snapshot");
    }
    ByteReader& body = envelope.body;
    // Each section stands after its size.
    const auto section = [&](const char* what) { return body.part(body.u32_le(what), what); };
    ByteReader history = section("history of a snapshot (cut short)");
    ByteReader state = section("state of a snapshot (cut short)");
    ByteReader start = section("start of a snapshot (cut short)");
    if (!body.at_end()) body.fail("end of a snapshot");
    if (!body.ok()) return body.error();

    Snapshot snapshot(blob.size());
    const auto open_table = [&](ByteReader in) {
        const std::size_t origin = in.offset();
        return SsTable::open(in.rest(), origin, *snapshot.cache_);
    };
    snapshot.history_ = TRY(open_table(history));
    ByteReader marker = state;
    // "E" is no table, and is looked for before a table is.
    snapshot.replay_ = as_text(marker.rest()) == kNoState;
    if (!snapshot.replay_) snapshot.state_ = TRY(open_table(state));
    snapshot.start_state_ = TRY(open_table(start));
    TRY(snapshot.read_versions());
    if (!snapshot.start_state_.empty()) TRY(snapshot.read_start());
    return snapshot;
}

std::size_t Snapshot::bytes() const {
    if (!reserve_) {
        const std::size_t limit = blob_size_ + kMostPacked;
        std::size_t content = 0;
        for (const SsTable* table : {&history_, &state_, &start_state_})
            content += table->content_size(limit - content);
        reserve_ = content * kContentFactor;
    }
    return *reserve_;
}

// Versions are read at once and kept, so they are charged to the budget of the whole blob.
Result<Stored> Snapshot::required(const SsTable& table, std::string_view key) {
    const auto stored = TRY(table.find(as_bytes(key), budget_));
    if (!stored) return corrupt(cat("a table of the snapshot has no \"", key, "\""));
    // The smallest entry has two bytes; a map spends this on it.
    constexpr std::size_t kEntry = 64;
    if (!budget_.take_heap(stored->bytes.size() / 2 * kEntry))
        return corrupt("a version is too large for its snapshot");
    return *stored;
}

Result<crdt::VersionVector> Snapshot::version_at(std::string_view key) {
    const Stored stored = TRY(required(history_, key));
    return decode_version(stored.bytes);
}

Result<crdt::Frontiers> Snapshot::heads_at(const SsTable& table, std::string_view key) {
    const Stored stored = TRY(required(table, key));
    crdt::Frontiers heads = TRY(decode_frontiers(stored.bytes));
    heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
    return heads;
}

Result<void> Snapshot::read_versions() {
    end_ = TRY(version_at(kEndKey));
    heads_ = TRY(heads_at(history_, kHeadsKey));
    // Heads without a version, or a version without heads, would be a document that ends nowhere.
    const bool known = std::all_of(heads_.begin(), heads_.end(),
                                   [&](crdt::OpId head) { return end_.includes(head); });
    if (!known || heads_.empty() != end_.empty())
        return corrupt("the heads of the history do not fit its version");
    return {};
}

Result<void> Snapshot::read_start() {
    HistoryStart start;
    start.heads = TRY(heads_at(start_state_, kHeadsKey));
    // Loro reads a history without them as one that begins at the beginning.
    const auto has = [&](std::string_view key) -> Result<bool> {
        const auto stored = TRY(history_.find(as_bytes(key), budget_));
        return stored.has_value();
    };
    if (TRY(has(kStartKey))) start.end = TRY(version_at(kStartKey));
    // The heads stand in two tables. Two answers would let a reader replay a history onto the state
    // of another version.
    if (TRY(has(kStartHeadsKey))) {
        const crdt::Frontiers heads = TRY(heads_at(history_, kStartHeadsKey));
        if (heads != start.heads)
            return corrupt("the history and the state of a snapshot begin at different versions");
    }
    if (!end_.includes(start.end))
        return corrupt("the history of the snapshot ends before it begins");
    start_ = std::move(start);
    return {};
}

Result<void> Snapshot::each_block(Budget& budget, BlockVisitor visit) const {
    for (SsTable::Cursor cursor = TRY(history_.begin(budget)); !cursor.at_end();
         TRY(cursor.next())) {
        if (is_version_key(cursor.key())) continue;
        const crdt::OpId first = TRY(read_block_key(cursor.key()));
        TRY(visit(first, cursor.value().bytes));
    }
    return {};
}

Result<std::vector<Change>> Snapshot::changes() const {
    Budget budget = this->budget();
    // Counted first, so that the changes are allocated once.
    std::size_t count = 0;
    const auto counted = [&](crdt::OpId, std::span<const std::uint8_t> block) -> Result<void> {
        count += change_count(ByteReader(block));
        return {};
    };
    TRY(each_block(budget, counted));
    if (!budget.take_heap(count * sizeof(Change)))
        return corrupt("more changes than the blob can hold");
    std::vector<Change> changes;
    changes.reserve(count);
    Coverage coverage(*this);
    const auto decoded = [&](crdt::OpId key, std::span<const std::uint8_t> block) -> Result<void> {
        ChangeBatch batch;
        TRY(read_changes(key, block, budget, batch));
        TRY(coverage.add(key, batch));
        add_changes(std::move(batch), changes);
        return {};
    };
    TRY(each_block(budget, decoded));
    TRY(coverage.finish());
    return changes;
}

Result<void> Snapshot::verify_changes() const {
    Budget budget = this->budget();
    Coverage coverage(*this);
    Dependencies dependencies(*this);
    ChangeBatch batch;
    // Charged as if it was all kept, so that changes() refuses nothing that is well here.
    const auto decoded = [&](crdt::OpId key, std::span<const std::uint8_t> block) -> Result<void> {
        batch.clear();
        TRY(read_changes(key, block, budget, batch));
        if (!budget.take_heap(batch.heads.size() * sizeof(Change)))
            return corrupt("more changes than the blob can hold");
        TRY(dependencies.add(batch));
        return coverage.add(key, batch);
    };
    TRY(each_block(budget, decoded));
    TRY(coverage.finish());
    return dependencies.finish();
}

// The block with the last key at or before the id. Whether the atom is really in it only decoding
// tells; a gap in the history would be found by Coverage.
Result<Snapshot::Block> Snapshot::block_of(crdt::OpId id, Budget& budget) const {
    const SsTable::Cursor cursor = TRY(history_.floor(block_key(id), budget));
    if (!cursor.at_end() && !is_version_key(cursor.key())) {
        const crdt::OpId first = TRY(read_block_key(cursor.key()));
        if (first.peer == id.peer && first.counter <= id.counter)
            return Block{first, cursor.value()};
    }
    return corrupt(cat("the history has no change at ", id.counter, "@", id.peer));
}

// Begins at the block that may hold the first atom, which may be of an earlier peer if there is
// none, and ends at the first block beyond the span.
Result<std::vector<Change>> Snapshot::changes_in(const crdt::IdSpan& span, Budget& budget) const {
    std::vector<Change> changes;
    if (span.begin >= span.end) return changes;
    const Bytes from = block_key({span.peer, span.begin});
    for (SsTable::Cursor cursor = TRY(history_.floor(from, budget)); !cursor.at_end();
         TRY(cursor.next())) {
        if (is_version_key(cursor.key())) continue;
        const crdt::OpId first = TRY(read_block_key(cursor.key()));
        if (first.peer < span.peer) continue;
        if (first.peer > span.peer || first.counter >= span.end) break;
        const Stored block = cursor.value();
        if (!budget.take_heap(3 * change_count(ByteReader(block.bytes)) * sizeof(Change))) {
            return corrupt("more changes than the blob can hold");
        }
        ChangeBatch batch;
        TRY(read_changes(first, block.bytes, budget, batch));
        if (batch.id_of(batch.heads.front()) != first)
            return corrupt("a block of changes begins elsewhere than its key says");
        add_changes(std::move(batch), changes);
    }
    std::erase_if(changes, [&](const Change& change) {
        return change.id.counter >= span.end ||
               change.id.counter + crdt::atom_count(change) <= span.begin;
    });
    return changes;
}

// Reads the headers of one block and none of its ops.
Result<Snapshot::Moment> Snapshot::moment_of(crdt::OpId id) const {
    Budget budget = this->budget();
    const Block block = TRY(block_of(id, budget));
    const std::span<const std::uint8_t> bytes = block.stored.bytes;
    std::vector<Change> changes;
    if (!budget.take_heap(3 * change_count(ByteReader(bytes)) * sizeof(Change)))
        return corrupt("more changes than the blob can hold");
    const std::vector<crdt::Counter> atoms =
        TRY(read_block_headers(ByteReader(bytes), budget, changes));
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const Change& change = changes[i];
        const crdt::Counter after = id.counter - change.id.counter;
        if (change.id.peer == id.peer && after >= 0 && after < atoms[i])
            return Moment{change.lamport + static_cast<crdt::Lamport>(after), change.timestamp};
    }
    return corrupt(cat("the history has no change at ", id.counter, "@", id.peer));
}

std::optional<crdt::Frontiers> Snapshot::state_version() const {
    if (start_ && replay_) return start_->heads;
    // Loro takes such a blob for a document that shows nothing. Its history says otherwise.
    if (!start_ && !heads_.empty() && state_.empty()) return std::nullopt;
    return heads_;
}

// The state of a trimmed history holds only what differs from the start, so both tables are joined;
// a container in both is listed once.
Result<std::vector<crdt::ContainerId>> Snapshot::containers(Budget& budget) const {
    std::vector<crdt::ContainerId> own;
    TRY(add_containers(state_, budget, own));
    if (!start_) return own;
    std::vector<crdt::ContainerId> ids = TRY(start_containers(budget));
    for (crdt::ContainerId& id : own) {
        const auto at_start = TRY(start_state_.find(container_key(id), budget));
        if (!at_start) ids.push_back(std::move(id));
    }
    std::sort(ids.begin(), ids.end(), [](const crdt::ContainerId& a, const crdt::ContainerId& b) {
        return container_key(a) < container_key(b);
    });
    return ids;
}

Result<std::vector<crdt::ContainerId>> Snapshot::start_containers(Budget& budget) const {
    std::vector<crdt::ContainerId> ids;
    TRY(add_containers(start_state_, budget, ids));
    return ids;
}

// The later table goes first: what it holds replaces the state at the start.
Result<std::optional<Stored>> Snapshot::stored_state(const crdt::ContainerId& id,
                                                     Budget& budget) const {
    if (!has_container_key(id)) return std::nullopt;
    const Bytes key = container_key(id);
    auto stored = TRY(state_.find(key, budget));
    if (stored || !start_) return stored;
    return start_state_.find(key, budget);
}

Result<std::optional<Stored>> Snapshot::stored_start_state(const crdt::ContainerId& id,
                                                           Budget& budget) const {
    if (!has_container_key(id)) return std::nullopt;
    return start_state_.find(container_key(id), budget);
}

Result<std::optional<ContainerState>> Snapshot::state(const crdt::ContainerId& id,
                                                      Budget& budget) const {
    const auto stored = TRY(stored_state(id, budget));
    if (!stored) return std::nullopt;
    return read_container_state(id, stored->bytes, budget);
}

Result<std::optional<ContainerState>> Snapshot::start_state(const crdt::ContainerId& id,
                                                            Budget& budget) const {
    const auto stored = TRY(stored_start_state(id, budget));
    if (!stored) return std::nullopt;
    return read_container_state(id, stored->bytes, budget);
}

Result<void> Snapshot::verify() const {
    TRY(verify_changes());
    return verify_states();
}

Result<void> Snapshot::verify_states() const {
    for (const SsTable* table : {&start_state_, &state_}) {
        Budget walk = budget();
        for (SsTable::Cursor cursor = TRY(table->begin(walk)); !cursor.at_end();
             TRY(cursor.next())) {
            if (as_text(cursor.key()) == kHeadsKey && table == &start_state_) continue;
            // Each state is let go before the next is read, so each may take what the walk has
            // left.
            Budget budget = walk;
            const crdt::ContainerId id = TRY(container_at(cursor));
            TRY(read_container_state(id, cursor.value().bytes, budget));
        }
    }
    return {};
}

}  // namespace quire::codec
