// Journal: a document's log, and the local edits that go in at its end.
//
//     log   [ a base | changes: ours and others' | the pending transaction )
//                                                ^ began()                 ^ log().end()
//
// Local edits gather in a pending transaction; finish() makes it a change. Typing goes on where the
// last edit ended for hardly more than the letter: the journal owns the log so that this path, which
// is most of all editing, is compiled into its callers. Containers learn of ops when they are read.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/result.h"
#include "crdt/doc/container.h"
#include "crdt/doc/container_view.h"
#include "crdt/history/oplog.h"
#include "crdt/history/past.h"
#include "crdt/ids/version.h"

namespace quire::crdt {

class Journal {
public:
    explicit Journal(PeerId peer) : peer_id_(peer), peer_(log_.atoms().intern(peer)) {}
    // A copy of what another has committed, for another peer. CHECKs that no transaction is pending.
    Journal(const Journal& other, PeerId peer);
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    ~Journal() = default;

    OpLog& log() { return log_; }
    const OpLog& log() const { return log_; }

    PeerId peer_id() const { return peer_id_; }
    void set_peer(PeerId peer) {
        peer_id_ = peer;
        peer_ = log_.atoms().intern(peer);
    }
    // The id of the next local op.
    OpId next_id() const { return {peer_id_, log_.atoms().end_of(peer_)}; }
    // Returns true if there are numbers for the atoms of a local edit, which are never more than one
    // container holds. A state from elsewhere may claim that the peer here has used up its own.
    bool has_room() const {
        constexpr Counter kMostEdited = 1 << 30;
        return log_.end() <= kMostAtoms &&
               log_.atoms().end_of(peer_) <= std::numeric_limits<Counter>::max() - kMostEdited;
    }

    // --- the pending transaction (journal.cc) ---
    // The log, for the op of a local edit; begins a transaction if none is pending.
    OpLog& begin() {
        if (!open_) open_transaction();
        return log_;
    }
    bool in_transaction() const { return open_; }
    // The first op of the pending transaction, or else of the last one or the last import.
    Lv began() const { return began_; }
    Lv committed_end() const { return open_ ? began_ : log_.end(); }
    IdSpan pending_span() const;
    // The heads after every op, including those of a pending transaction, of which the last is the
    // only head.
    Heads latest_heads() const { return open_ ? Heads{log_.end() - 1} : log_.heads(); }
    // Makes the pending transaction a change, and returns its ops. `merge_interval` is as in
    // OpLog::finish_local().
    LvSpan finish(std::int64_t timestamp, std::string_view message, std::int64_t merge_interval);
    // Makes the ops of the last import the pending transaction.
    void reopen();
    // An import is about to append to the log. CHECKs that no transaction is pending.
    void begin_import();

    // --- typing on ---
    // The common edits: one more letter where the last one was typed, or one more deleted where the
    // last one was. False, and nothing is done, if the edit is anything else.
    bool type_on(Handle text, std::size_t at, std::string_view utf8) {
        if (at != typing_.at || log_.end() != typing_.end || text != typing_.text ||
            utf8.size() != 1 || static_cast<unsigned char>(utf8[0]) >= 0x80)
            return false;
        const bool fits = typing_.end < typing_.until && at <= typing_.body->size;
        if (!fits || !typing_.log->type(utf8[0])) return false;
        log_.extend();
        ++typing_.body->size;
        ++typing_.at;
        ++typing_.end;
        return true;
    }
    bool erase_on(Handle text, std::size_t at, std::size_t count) {
        if (at != typing_.erase_at || log_.end() != typing_.end || text != typing_.text ||
            count != 1 || at >= typing_.body->size || typing_.end >= typing_.until)
            return false;
        typing_.log->erase_on();
        log_.extend();
        --typing_.body->size;
        typing_.erase_at += typing_.erase_step;  // One less, or the same.
        ++typing_.end;
        return true;
    }
    // An edit of a text without styles has written its last `len` atoms, from which the next may go
    // on: typing at `at`, or erasing where the log's last run says.
    void note_typed(Container& c, SequenceBody& body, std::size_t at, std::uint32_t len) {
        if (has_begun(len)) note_typing(c, body, at, kNowhereAt, 0);
    }
    void note_erased(Container& c, SequenceBody& body, std::uint32_t len);

    // --- versions (versions.cc) ---
    // The version after every committed op. O(runs of ids since the last call).
    const VersionVector& version();
    // Errors: not_found "unknown_version"; unsupported "shallow_snapshot" for a version before the
    // base, and for one that holds only a part of it.
    Result<Heads> heads_of(const Frontiers& version) const;
    Past past_of(Heads heads) const;
    VersionVector version_of(const Past& past) const;
    Frontiers frontiers_of(std::span<const Lv> heads) const;
    // The number of committed ops.
    std::size_t op_count() const {
        return static_cast<std::size_t>(std::int64_t{committed_end()} + unplaced_);
    }
    // Ends the base (OpLog::end_base()) with the version that it stands for; false as there.
    bool end_base(const VersionVector& end, std::span<const OpLog::Placed> heads,
                  std::int64_t timestamp);
    const VersionVector& base_version() const { return base_version_; }

private:
    void open_transaction();
    // Returns true if the transaction held something before its last atoms. If each edit is committed there
    // is no run to go on with.
    bool has_begun(std::uint32_t last) const { return log_.end() - last != began_; }
    void note_typing(Container& c, SequenceBody& body, std::size_t at, std::size_t erase_at,
                     std::size_t erase_step) {
        typing_ = {&body,         c.log, Handle{c.index}, log_.end(),
                   typing_.until, at,    erase_at,        erase_step};
    }

    PeerId peer_id_;
    OpLog log_;
    PeerIndex peer_;
    // The place where a run of a text goes on, as long as `end` is the log's: after an op of the
    // pending transaction and before any other.
    static constexpr std::size_t kNowhereAt = ~std::size_t{0};
    struct Typing {
        SequenceBody* body = nullptr;
        ContainerLog* log = nullptr;
        Handle text = {};
        Lv end = kNoLv;
        // The log may grow up to here: has_room() when the run began leaves that much.
        Lv until = 0;
        std::size_t at = kNowhereAt;
        std::size_t erase_at = kNowhereAt;
        std::size_t erase_step = 0;
    } typing_;
    bool open_ = false;  // A transaction is pending; its ops are in the log from `began_` on.
    Lv began_ = 0;       // Else: where the last one, or the last import, began.

    VersionVector base_version_;
    VersionVector version_;
    Lv version_end_ = 0;  // `version_` covers the log below this.
    // The number of atoms in the base's version less the number in the log, which has heads twice.
    std::int64_t unplaced_ = 0;
};

}  // namespace quire::crdt
