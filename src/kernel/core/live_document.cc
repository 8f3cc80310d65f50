// A live document: loading, transactions, and the wait for durability.
//
// Loading replays every stored update in one import, then puts the records of blocks and of history
// beside it. A transaction gathers in one batch whatever its commit, its unit of history and its
// header come to, and the batch is numbered when it is submitted: a waiter of number n is answered
// once all batches up to n are stored. The first batch that the store refuses breaks the document;
// it is loaded anew before its next call, once nothing is in flight.
#include "kernel/core/live_document.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/concat.h"
#include "base/process_memory.h"
#include "codec/updates.h"
#include "conversation/conversation.h"
#include "crdt/doc/history.h"
#include "kernel/core/appends.h"
#include "kernel/core/block_feed.h"
#include "kernel/core/cursors.h"
#include "kernel/core/document_feed.h"
#include "kernel/core/kinds.h"
#include "kernel/core/replay.h"
#include "kernel/core/residence.h"
#include "policy/attribution.h"

namespace quire::kernel {

namespace {

// Loading takes several times the memory that stays: some bytes for each byte that is stored, and for
// each entry of history. What is freed beyond this is given back.
constexpr std::size_t kMuchToLoad = std::size_t{512} << 10;
constexpr std::size_t kUnitToLoad = 256;
// A document that is stored in more pieces than this is put together when it is loaded.
constexpr std::size_t kLongLog = 500;
// Estimates: the bytes of a document beside its CRDT, of a block and of a unit of history. With them a
// file of 15 KB is counted as 23 KB; 10,000 of them made a kernel 26 KB each larger.
constexpr std::size_t kFixedBytes = 6144;
constexpr std::size_t kBlockBytes = 400;
constexpr std::size_t kUnitBytes = 64;

// The state of a block by its key, made where there is none.
BlockState& state_in(std::map<std::string, BlockState>& states, const std::string& key) {
    const auto place = states.try_emplace(key).first;
    place->second.key = place->first;
    return place->second;
}

}  // namespace

LiveDocument::LiveDocument(const Parts& parts, store::DocumentRecord record, bool fresh)
    : parts_(parts), strand_(parts.scheduler), transaction_(std::move(record), fresh) {}

LiveDocument::~LiveDocument() {
    // One that has left may be followed by another object for the same document.
    if (doc_ != nullptr && parts_.residence != nullptr) parts_.residence->left(key());
}

bool LiveDocument::has_waiting_appends() const {
    return std::any_of(states_.begin(), states_.end(),
                       [](const auto& entry) { return entry.second.has_waiting_appends(); });
}

Result<void> LiveDocument::ready() {
    if (in_flight_.refusal()) {
        // Memory is ahead of the store. Once nothing is under way the store takes the document's
        // batches again, the record goes back to the stored one, and the document is built anew.
        if (!in_flight_.idle()) return Failure(*in_flight_.refusal());
        parts_.store.unfence(key());
        TRY(forget_unstored_record());
        doc_.reset();
    }
    if (doc_ == nullptr) {
        TRY(load());
        in_flight_.mend();
        report_memory();
    }
    if (parts_.residence != nullptr) {
        const std::uint64_t now = parts_.residence->tick();
        last_used_.with([&](std::uint64_t& used) { used = now; });
    }
    pack_blocks();
    heed_feed();
    return {};
}

// The blocks that were touched last are likely to be so again. A call that comes here has nothing
// of a block yet.
void LiveDocument::pack_blocks() {
    constexpr std::size_t kLeft = 16;
    doc_->fit_reopened();
    if (touched_.size() <= kLeft || doc_->pending().size() > 0) return;
    const auto first_left = touched_.end() - kLeft;
    for (auto it = touched_.begin(); it != first_left; ++it) {
        const bool is_left = std::any_of(first_left, touched_.end(), [&](const Touched& other) {
            return other.state == it->state;
        });
        if (is_left) continue;
        it->state->history.pack();
        it->state->forget_idle_appends();
        const conversation::ConversationBlock* const block =
            it->id && conversation_ != nullptr ? conversation_->find(*it->id) : nullptr;
        if (block == nullptr || block->status() == "running") continue;
        doc_->fit(block->content);
        doc_->fit(block->fields);
    }
    touched_.erase(touched_.begin(), first_left);
}

BlockState& LiveDocument::touch(const std::string& key,
                                const conversation::ConversationBlock* block) {
    BlockState& state = state_in(states_, key);
    if (touched_.empty() || touched_.back().state != &state)
        touched_.push_back({&state, block != nullptr ? std::optional(block->id) : std::nullopt});
    return state;
}

std::size_t LiveDocument::memory_bytes() const {
    std::size_t bytes = kFixedBytes + record().header.size() + doc_->memory_bytes();
    if (conversation_ != nullptr) bytes += conversation_->size() * kBlockBytes;
    for (const auto& [key, state] : states_) bytes += kBlockBytes + state.history.memory_bytes();
    return bytes;
}

void LiveDocument::report_memory() {
    if (parts_.residence == nullptr) return;
    reported_bytes_ = memory_bytes();
    grown_bytes_ = 0;
    parts_.residence->holds(shared_from_this(), reported_bytes_);
}

void LiveDocument::note_growth() {
    if (grown_bytes_ > kFixedBytes + reported_bytes_ / 8) report_memory();
}

bool LiveDocument::may_leave() const {
    const bool is_settled = in_flight_.idle() && !in_flight_.refusal() && !doorway_.is_held() &&
                            is_stored() && !transaction_.is_due() &&
                            !transaction_.has_listeners() && feed_ == nullptr;
    if (!is_settled) return false;
    const std::int64_t now_ms = parts_.clock.steady_ms();
    for (const auto& [key, state] : states_) {
        if (state.cursors != nullptr && state.cursors->has_any(now_ms)) return false;
        if (state.reserving > 0 || state.reserved > 0) return false;
        const Appends* const appends = state.appends.get();
        if (appends != nullptr && (!appends->empty() || appends->in_flight || appends->timer_set))
            return false;
    }
    for (std::size_t i = 0; conversation_ != nullptr && i < conversation_->size(); ++i) {
        const conversation::ConversationBlock& block = conversation_->at(i);
        if (block.status() != "running") continue;
        const auto state = states_.find(key_of(block.id));
        if (state == states_.end() || !state->second.interrupted) return false;
    }
    return true;
}

bool LiveDocument::leave() {
    if (doc_ == nullptr) return false;
    if (!may_leave()) {
        parts_.residence->stays(key());
        return false;
    }
    // The states that stay know what no record in the store says: that a block was interrupted, and
    // which appends are one step of undo.
    std::erase_if(states_, [](const auto& entry) {
        return !entry.second.interrupted && !entry.second.has_append_runs();
    });
    touched_.clear();
    for (auto& [key, state] : states_) state.history = {};
    conversation_ = nullptr;
    doc_ = nullptr;
    peers_ = {};
    transaction_.reset();  // A header that only saves work may wait there.
    parts_.residence->left(key());
    return std::none_of(states_.begin(), states_.end(),
                        [](const auto& entry) { return entry.second.has_append_runs(); });
}

// Called between transactions alone, so that each is captured whole or not at all. Private copies
// have no readers but their owners, who read what they write.
void LiveDocument::heed_feed() {
    const bool is_listened = is_listened_to();
    if (is_listened == (feed_ != nullptr)) return;
    feed_ = is_listened ? std::make_unique<DocumentFeed>(*this, *parts_.feed) : nullptr;
}

bool LiveDocument::is_listened_to() const {
    return parts_.feed != nullptr && kind() != kStageKind && parts_.feed->is_watched(key());
}

// Rebuilds the document from its stored updates, and its blocks from their records. O(history).
// Appends that were accepted before a failure of the store are carried over and written again.
Result<void> LiveDocument::load() {
    store::StoredDocument stored = TRY(read_stored());
    const std::size_t update_count = stored.updates.size();
    std::size_t bytes = stored.units.size() * kUnitToLoad;
    for (const Bytes& update : stored.updates) bytes += update.size();
    ReplayedDocument replayed = TRY(replay(record(), std::move(stored), parts_.rng.next() >> 1));

    std::map<std::string, BlockState> states;
    for (auto& [key, block] : replayed.blocks) {
        BlockState& state = state_in(states, key);
        state.version = block.version;
        state.history = std::move(block.history);
    }
    // Appends that were accepted before the store failed are still to be written. A document that
    // left memory without a failure goes on with its runs of appends.
    const bool failed = in_flight_.refusal().has_value();
    for (auto& [key, state] : states_) {
        const bool goes_on = !failed && state.has_append_runs();
        if (!state.has_waiting_appends() && !state.interrupted && !goes_on) continue;
        BlockState& kept = state_in(states, key);
        kept.interrupted = state.interrupted;
        kept.appends = std::move(state.appends);
        if (kept.appends != nullptr) kept.appends->in_flight = false;
    }

    feed_ = nullptr;
    touched_.clear();
    states_ = std::move(states);
    peers_ = ActorPeers(std::move(replayed.peers));
    transaction_.reset();
    conversation_ = std::move(replayed.conversation);
    doc_ = std::move(replayed.doc);
    if (!std::exchange(was_loaded_, true)) note_interrupted();
    // After a refusal there may be no room for it, and the next load would be refused again.
    if (!in_flight_.refusal()) compact_if_long(update_count);
    if (doc_->pending().size() == 0) doc_->fit();
    if (bytes > kMuchToLoad) give_back_memory();
    return {};
}

// Its records in the store. Errors: damaged_document(); unavailable.
Result<store::StoredDocument> LiveDocument::read_stored() {
    if (record().damaged) return damaged_document(record(), "its row is not what was written");
    if (!is_stored()) return store::StoredDocument();
    Result<store::StoredDocument> stored = parts_.store.load(key());
    if (stored || stored.error().code() != Errc::corrupt) return stored;
    return damaged_document(record(), "some of its records are not what was written");
}

// A block that is running when this kernel first loads the document was left so by another
// kernel, whose writer is gone.
void LiveDocument::note_interrupted() {
    if (conversation_ == nullptr) return;
    for (std::size_t i = 0; i < conversation_->size(); ++i) {
        const conversation::ConversationBlock& block = conversation_->at(i);
        if (block.status() == "running") ref_of(block).state->interrupted = true;
    }
}

// Replaces many small updates by one blob with the same history, so that the next load decodes
// one piece.
void LiveDocument::compact_if_long(std::size_t update_count) {
    if (update_count <= kLongLog) return;
    transaction_.batch().compactions.push_back(
        {key(), codec::encode_updates(doc_->changes_since({}))});
    submit([](Result<void>) {});  // A failure leaves the pieces as they were.
}

bool LiveDocument::is_blank() const {
    return record().header.empty() && doc_->history().op_count() == 0;
}

Result<BlockRef> LiveDocument::find(const conversation::BlockId& id, bool deleted_too) {
    if (id.is_document()) {
        if (conversation_ != nullptr || (record().deleted && !deleted_too))
            return no_such_block(id.str());
        return whole();
    }
    const store::PeerRecord* const peer = peers_.with_number(id.peer_number);
    if (conversation_ == nullptr || peer == nullptr) return no_such_block(id.str());
    const crdt::OpId op{peer->peer, static_cast<crdt::Counter>(id.counter)};
    const conversation::ConversationBlock* block = conversation_->find(op);
    if (block == nullptr || (block->deleted && !deleted_too)) return no_such_block(id.str());
    return ref_of(*block);
}

BlockRef LiveDocument::ref_of(const conversation::ConversationBlock& block) {
    const std::string key = key_of(block.id);
    BlockState& state = touch(key, &block);
    const BlockRef ref{&state, block.content, &block, block.id};
    if (feed_ != nullptr) feed_->see(ref);
    return ref;
}

BlockRef LiveDocument::whole() {
    return {&touch("", nullptr),
            doc_->open(crdt::ContainerId::root("content", crdt::ContainerKind::text)),
            nullptr,
            {}};
}

conversation::BlockId LiveDocument::id_of(const BlockRef& block) const {
    if (block.fields == nullptr) return {key(), -1, 0};
    return {key(), peers_.number_of(block.id.peer), block.id.counter};
}

std::string LiveDocument::key_of(crdt::OpId id) const {
    return cat(peers_.number_of(id.peer), "_", id.counter);
}

void LiveDocument::begin(const policy::Actor& actor) {
    begin_at(actor, doc_->version().ends());
}

void LiveDocument::begin_at(const policy::Actor& actor,
                            const std::map<crdt::PeerId, crdt::Counter>& version) {
    const std::string name = actor.str();
    const store::PeerRecord* writer = peers_.writer_at(name, version, doc_->version().ends());
    if (writer == nullptr) {
        // The peer's record is in the same batch as its first change, so the store never has ops of
        // a peer without an actor.
        writer = &peers_.add(key(), name, parts_.rng.next() >> 1);
        transaction_.batch().peers.push_back(*writer);
    }
    doc_->set_peer(writer->peer);
    if (feed_ != nullptr) feed_->begin();
}

crdt::IdSpan LiveDocument::commit(const policy::Actor& actor, std::string_view operation) {
    return commit({actor, std::string(operation), ""});
}

// The commit is encoded once, here; the store and other replicas get the same bytes.
crdt::IdSpan LiveDocument::commit(const policy::Attribution& what) {
    crdt::CommitOptions options;
    options.message = policy::message_of(what);
    options.timestamp = parts_.clock.wall_ms() / 1000;
    const crdt::IdSpan span = doc_->commit(std::move(options)).span;
    if (span.size() > 0) {
        Bytes update = codec::encode_updates(doc_->changes_in({&span, 1}));
        // A guess that is cheap; report_memory() counts anew when enough of it has come together.
        grown_bytes_ += kUnitBytes + 3 * update.size();
        transaction_.add(store::UpdateRecord{key(), std::move(update)});
    }
    return span;
}

Result<void> LiveDocument::import(const policy::Actor& actor,
                                  const std::vector<crdt::Change>& changes) {
    Bytes update = codec::encode_updates(changes);
    begin(actor);
    TRY(doc_->import(changes));
    grown_bytes_ += 3 * update.size();
    transaction_.add(store::UpdateRecord{key(), std::move(update)});
    return {};
}

void LiveDocument::record(const BlockRef& block, Unit unit, std::uint64_t calls) {
    for (const Unit* forgotten : block.state->history.forget_redo(unit.actor))
        rerecord(block, *forgotten);
    record_quietly(block, std::move(unit), calls);
}

// The unit remembers the document's heads, which is the version that a rollback to this unit
// restores.
void LiveDocument::record_quietly(const BlockRef& block, Unit unit, std::uint64_t calls) {
    BlockState& state = *block.state;
    state.version += calls;
    unit.version = state.version;
    unit.at_ms = parts_.clock.wall_ms();
    unit.heads = doc_->frontiers();
    record_version(block);
    transaction_.add(to_record(unit, key(), state.key));
    if (feed_ != nullptr) feed_->record(block, unit, calls);
    state.history.add(std::move(unit));
}

void LiveDocument::record_version(const BlockRef& block) {
    BlockState& state = *block.state;
    state.told = state.reserving;
    transaction_.add(store::BlockRecord{key(), std::string(state.key), state.version,
                                        reservation(state.version, state.reserving)});
}

void LiveDocument::rerecord(const BlockRef& block, const Unit& unit) {
    transaction_.add(to_record(unit, key(), block.state->key));
}

// A header is stored with the changes that made it true. If the store refused them, the stored
// header is right again, and so is the stored record.
Result<void> LiveDocument::forget_unstored_record() {
    const std::vector<store::DocumentRecord> all = TRY(parts_.store.documents());
    const auto stored =
        std::find_if(all.begin(), all.end(),
                     [&](const store::DocumentRecord& each) { return each.key == key(); });
    transaction_.revert_record(stored == all.end() ? nullptr : &*stored);
    return {};
}

// The store answers on its own thread, so the reply is posted to the strand. Batches of one
// document end in the order in which they were submitted.
void LiveDocument::submit(Reply<void> done) {
    // The feed adds to those who are told of the outcome, so it comes before they are taken.
    if (feed_ != nullptr) feed_->finish();
    note_growth();
    const std::uint64_t sequence = in_flight_.submit();
    parts_.store.commit(
        transaction_.take(true),
        [self = shared_from_this(), sequence, on_stored = transaction_.take_on_stored(),
         done = std::move(done)](Result<void> result) mutable {
            sched::Strand& strand = self->strand_;
            strand.post([self = std::move(self), sequence, result = std::move(result),
                         on_stored = std::move(on_stored), done = std::move(done)]() mutable {
                self->finish(sequence, result, [&](Result<void> stored) {
                    for (auto& each : on_stored) each(stored);
                    done(std::move(stored));
                });
            });
        });
}

void LiveDocument::settle(bool stored) {
    CHECK(!is_stored() && doc_ == nullptr);
    if (!stored) return transaction_.revert_record(nullptr);
    transaction_.note_stored();
    // A document that cannot be loaded says so to the first call.
    if (is_listened_to() && ready()) feed_->arrived();
}

store::Batch LiveDocument::give() {
    CHECK(doorway_.is_held() && in_flight_.idle());
    if (feed_ != nullptr) feed_->finish();
    note_growth();
    // A document that is held and idle has this one batch under way, so given() can name it as the
    // last.
    in_flight_.submit();
    on_given_ = transaction_.take_on_stored();
    return transaction_.take(transaction_.is_due());
}

void LiveDocument::given(const Result<void>& result) {
    finish(in_flight_.last(), result,
           [told = std::exchange(on_given_, {})](Result<void> stored) mutable {
               for (auto& each : told) each(stored);
           });
}

template <class Done>
void LiveDocument::finish(std::uint64_t sequence, const Result<void>& result, Done done) {
    if (result) transaction_.note_stored();
    in_flight_.finish(sequence, result, std::move(done));
}

}  // namespace quire::kernel
