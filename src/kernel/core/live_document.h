// LiveDocument: one document in memory, on its strand: the CRDT, the blocks in it, and its place in
// the pipeline.
//
// A call that changes something begins a transaction for its actor, edits, and submits: the commit
// is encoded once, handed to the store with the records that belong to it, and answered when it is
// durable. Memory may therefore be ahead of the disk; a read answers once everything it saw is
// durable (in_flight.h). If the store refuses a commit, everything in flight fails, and the
// document is loaded anew before it is used again.
//
// All but the constructor, key() and strand() runs on the strand.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "conversation/block.h"
#include "crdt/doc/doc.h"
#include "kernel/core/actor_peers.h"
#include "kernel/core/block_state.h"
#include "kernel/core/doorway.h"
#include "kernel/core/in_flight.h"
#include "kernel/core/open_transaction.h"
#include "kernel/core/parts.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"

namespace quire::conversation {
class Conversation;
}
namespace quire::policy {
struct Attribution;
}

namespace quire::kernel {

class DocumentFeed;

class LiveDocument : public std::enable_shared_from_this<LiveDocument> {
public:
    // `fresh`: the store does not know the document yet; its record goes with the first commit.
    LiveDocument(const Parts& parts, store::DocumentRecord record, bool fresh);
    LiveDocument(const LiveDocument&) = delete;
    LiveDocument& operator=(const LiveDocument&) = delete;
    ~LiveDocument();

    store::DocumentKey key() const { return transaction_.record().key; }
    const std::string& kind() const { return transaction_.record().kind; }
    const std::string& name() const { return transaction_.record().name; }
    sched::Strand& strand() { return strand_; }

    // Loads the document if it is not in memory. Errors: corrupt; unavailable while a failed
    // flush is being cleared.
    Result<void> ready();
    bool loaded() const { return doc_ != nullptr; }
    // Gives up what is in memory, to be loaded again by the next call. A document stays that is
    // held, has changes on their way or appends that wait, shows a running block, or is watched. Returns
    // true if it left, and another object could load all that this one knew.
    bool leave();
    // When it was used last, in Residence's time. Any thread.
    std::uint64_t last_used() const {
        return last_used_.with([](const std::uint64_t& used) { return used; });
    }
    // Returns true if text was accepted or waits that no batch has yet.
    bool has_waiting_appends() const;

    // It is loaded. A reference is good until the call returns: another call may have the document
    // leave.
    crdt::Doc& doc() { return *doc_; }
    // Null for a document that is one block.
    conversation::Conversation* conversation() { return conversation_.get(); }
    const store::DocumentRecord& record() const { return transaction_.record(); }
    // Returns true if the store knows it.
    bool is_stored() const { return transaction_.is_stored(); }
    // Returns true if nothing was ever done in it. It is loaded.
    bool is_blank() const;

    // The block with this id. A deleted block is found only with `deleted_too`. Errors: not_found
    // "invalid_reference".
    Result<BlockRef> find(const conversation::BlockId& id, bool deleted_too = false);
    // The block with its records, which are made if it has none. CHECKs that the block's writer is
    // known.
    BlockRef ref_of(const conversation::ConversationBlock& block);
    BlockRef whole();  // The block that is this document.
    conversation::BlockId id_of(const BlockRef& block) const;
    // Every block that has been looked at.
    std::map<std::string, BlockState>& states() { return states_; }

    // --- a transaction: begin, edit doc(), then submit ---
    // Begins a transaction for the actor, with the actor's peer. The first begin of an actor
    // makes the peer.
    void begin(const policy::Actor& actor);
    // Begins a transaction for edits of a copy of the document at this version. The peer is one of
    // the actor's that has written nothing since.
    void begin_at(const policy::Actor& actor, const std::map<crdt::PeerId, crdt::Counter>& version);
    // Ends the transaction and puts its bytes into the batch. Returns its atoms; empty if it
    // changed nothing.
    crdt::IdSpan commit(const policy::Actor& actor, std::string_view operation);
    crdt::IdSpan commit(const policy::Attribution& what);
    // Imports changes that were made in a copy of the document into the transaction. Later edits
    // are by `actor`.
    Result<void> import(const policy::Actor& actor, const std::vector<crdt::Change>& changes);
    // Raises the block's version by `calls` and records a unit that ends the actor's chance to
    // redo.
    void record(const BlockRef& block, Unit unit, std::uint64_t calls = 1);
    // Records a unit that leaves the chance to redo as it is.
    void record_quietly(const BlockRef& block, Unit unit, std::uint64_t calls = 1);
    // Puts the block's version and what is reserved beyond it into the batch.
    void record_version(const BlockRef& block);
    void rerecord(const BlockRef& block, const Unit& unit);  // A unit whose state changed.
    // The transaction that submit() will store, with the document's record.
    OpenTransaction& transaction() { return transaction_; }
    const OpenTransaction& transaction() const { return transaction_; }
    // Hands the batch to the store. `done` runs on the strand once the batch is durable or has
    // failed. Batches of one document become durable in order.
    void submit(Reply<void> done);

    // The batches that are submitted and not durable yet. A reader waits there.
    InFlight& in_flight() { return in_flight_; }

    // Tells a document that was stored together with others before it was ever loaded whether the
    // store accepted it (memory_carry.cc). Those who listen are told of its block.
    void settle(bool stored);

    // --- two documents in one transaction (core.h, calls enter) ---
    // Every call comes in here.
    Doorway& doorway() { return doorway_; }
    // Returns the transaction, to be stored in the batch of another document; given() then
    // reports the result on this document's strand, also to those who asked by
    // OpenTransaction::on_stored(). A
    // transaction that is thrown away is reported as an error, and the document is loaded anew.
    // CHECKs that the document is held and idle.
    store::Batch give();
    void given(const Result<void>& result);

private:
    Result<void> load();
    Result<store::StoredDocument> read_stored();
    Result<void> forget_unstored_record();
    void note_interrupted();
    template <class Done>
    void finish(std::uint64_t sequence, const Result<void>& result, Done done);
    std::string key_of(crdt::OpId id) const;
    void compact_if_long(std::size_t update_count);
    BlockState& touch(const std::string& key, const conversation::ConversationBlock* block);
    // Gives back memory of the blocks that were not touched lately: packs their histories, and fits
    // the texts of those that are not running.
    void pack_blocks();
    void heed_feed();  // Begins to capture for subscribers, or ends it.
    bool is_listened_to() const;
    bool may_leave() const;
    // About what it takes in memory. O(containers and units of history).
    std::size_t memory_bytes() const;
    void report_memory();
    void note_growth();  // Reports anew what has grown by an eighth.

    const Parts parts_;
    sched::Strand strand_;
    bool was_loaded_ = false;
    sched::Guarded<std::uint64_t> last_used_;
    std::size_t reported_bytes_ = 0;  // The bytes that it said it takes,
    std::size_t grown_bytes_ = 0;     // and about how many came since.

    // Null while the document is not in memory.
    std::unique_ptr<crdt::Doc> doc_;
    std::unique_ptr<conversation::Conversation> conversation_;
    ActorPeers peers_;
    std::map<std::string, BlockState> states_;
    // A block that a call has looked at, for pack_blocks().
    struct Touched {
        BlockState* state = nullptr;
        std::optional<crdt::OpId> id = {};  // Set for a block of a conversation.
    };
    std::vector<Touched> touched_;  // Since pack_blocks(), which leaves some; newest last.
    OpenTransaction transaction_;
    OpenTransaction::OnStored on_given_;  // For what give() returned.
    InFlight in_flight_;
    Doorway doorway_;
    std::unique_ptr<DocumentFeed> feed_;  // Null where nobody listens.
};

}  // namespace quire::kernel
