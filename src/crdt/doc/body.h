// DocBody: the inside of a Doc. History takes ops in; containers hold what they amount to, and lag
// behind until they are read.
//
// DocBody keeps what belongs to the document: the log, the containers, the pending transaction, the
// version that readers see, imports and events. What differs by a container's kind is in the bodies
// of containers (container.h).
#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "crdt/doc/container.h"
#include "crdt/doc/doc.h"
#include "crdt/history/oplog.h"
#include "crdt/history/past.h"
#include "crdt/ids/change_batch.h"

namespace quire::crdt {

class Pending;
class Subscribers;
struct Event;
struct View;

// Something that a room above keeps with a document. Undo keeps which atoms stand for which.
struct Companion {
    Companion() = default;
    Companion(const Companion&) = delete;
    Companion& operator=(const Companion&) = delete;
    virtual ~Companion() = default;
};

class DocBody {
public:
    explicit DocBody(PeerId peer);
    DocBody(const DocBody&) = delete;
    DocBody& operator=(const DocBody&) = delete;
    ~DocBody();

    // --- containers (containers.cc) ---
    ContainerIndex open(const ContainerId& id);
    bool knows(const ContainerId& id) const { return index_.contains(id); }
    Container& container(Handle handle) { return containers_[static_cast<ContainerIndex>(handle)]; }
    Container& container(ContainerIndex index) { return containers_[index]; }
    static ContainerLog& log_of(const Container& c) { return *c.log; }
    std::deque<Container>& containers() { return containers_; }
    // True if the container can be reached from a root, now or at a version. (alive.cc)
    bool is_alive(Container& c);
    bool is_alive(Container& c, Reach& reach);
    // A child container was made or removed, or may have been.
    void outdate_reach() { ++epoch_; }
    // The container, if local edits of this kind may go there; else null, and refuse() says why.
    Container* editable(Handle handle, ContainerKind kind) {
        if (view_ != nullptr || !has_room()) return nullptr;
        // Most edits go where the edit before went.
        if (pen_ != nullptr && Handle{pen_->index} == handle && pen_->id.kind == kind) return pen_;
        return find_editable(handle, kind);
    }
    Failure refuse(Handle handle, ContainerKind kind);
    static Failure refuse_detached();
    // True if there are numbers for the atoms of a local edit, which are never more than one
    // container holds. A state from elsewhere may claim that the peer here has used up its own.
    bool has_room() const {
        constexpr Counter kMostEdited = 1 << 30;
        return log_.end() <= kMostAtoms &&
               log_.atoms().end_of(peer_) <= std::numeric_limits<Counter>::max() - kMostEdited;
    }
    // The slot that an atom put into its list or map entry; null when it put none.
    const Slot* slot_of(Lv lv) const;
    ContainerId child_id(Lv lv, ContainerKind kind) const {
        return ContainerId::normal(log_.atoms().id_of(lv), kind);
    }

    // --- values (value.cc): at a version, or with `at` null after everything ---
    // The version that readers are to see; null is the latest.
    const Past* at() const { return at_; }
    Value value(Container& c, int depth, const Past* at);
    Value root_value(const Past* at);
    // The value of a slot or map entry that atom `lv` filled.
    Value slot_value(const Slot& slot, Lv lv, int depth, const Past* at);
    Item slot_item(const Slot& slot, Lv lv) const;

    // --- versions (view.cc) ---
    // Errors: not_found "unknown_version".
    Result<Heads> heads_of(const Frontiers& version) const;
    Past past_of(Heads heads) const;
    VersionVector version_of(const Past& past) const;
    // The version that readers see.
    const VersionVector& shown_version();
    const Heads& shown_heads() const { return at_ == nullptr ? log_.heads() : at_->heads(); }
    // The heads after every op, including those of a pending transaction, of which the last is the
    // only head.
    Heads latest_heads() const { return open_ ? Heads{log_.end() - 1} : log_.heads(); }
    // Shows readers this version from now on; none: the latest, whatever comes.
    void show(std::optional<Past> version);
    void go(std::optional<Past> version);  // Shows it as a checkout, with an event. (time.cc)
    View* view() { return view_.get(); }

    // The effect of the ops of `span`, the log's last; `before` are the heads before them.
    // (comparison.cc)
    Diff diff_of(LvSpan span, Heads before);

    // --- events (events.cc) ---
    const std::shared_ptr<Subscribers>& subscribers();
    bool wants_events() const;
    void before_commit(CommitOptions& options);
    // The span was committed; the event holds its diffs if wants_events().
    void after_commit(LvSpan span, Event event);
    // Requires wants_events().
    void tell(Event event);
    // The path to a container that readers see.
    std::vector<PathStep> path_of(Container& c);

    // --- local ops (commit.cc) ---
    // The log, for the op of a local edit; begins a transaction if none is pending.
    OpLog& begin() {
        if (!open_) open_transaction();
        return log_;
    }
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
    Commit commit(CommitOptions options);

    // --- import (import.cc) ---
    // Gives the batch back as it was.
    Result<Imported> import(ChangeBatch& batch, ImportOptions options);

    // --- export (export.cc) ---
    // Appends what the spans hold. Views last until the log grows.
    void export_spans(std::vector<LvSpan>& spans, ChangeBatch& out);
    void export_rows(LvSpan span, ChangeBatch& out);
    ChangeBatch export_spans(std::vector<LvSpan> spans);
    std::vector<Op> export_ops(std::span<const LvSpan> spans);
    void export_changes(std::span<const IdSpan> spans, ChangeBatch& out);
    std::vector<LvSpan> spans_since(const VersionVector& from) const;
    VersionVector& version();
    Frontiers frontiers_of(std::span<const Lv> heads) const;

    // --- a base (opening.cc) ---
    // An empty document with the same handles and settings.
    std::unique_ptr<DocBody> emptied() const;
    // This document with the history in front of what was done here. A transaction that is pending
    // still is. Errors: corrupt.
    Result<std::unique_ptr<DocBody>> with_history(ChangeBatch history, const VersionVector& end,
                                                  const Frontiers& heads);
    // Ends the base: everything that the state holds is in the log. Errors: unsupported.
    Result<void> end_base(const OpeningVersion& version);
    // Only the history can tell which roots were ever written.
    void doubt_roots() { doubts_roots_ = true; }
    bool doubts_roots() const { return doubts_roots_; }
    bool is_committing() const { return committing_; }
    // From now on a room above keeps atoms by their numbers.
    void follow_numbers() { is_followed_ = true; }
    bool is_unfollowed() const;
    bool has_subscribers() const { return subscribers_ != nullptr; }
    void share_subscribers(const DocBody& other) { subscribers_ = other.subscribers_; }

    // The companion that a room above keeps with the document; null until it puts one there.
    std::unique_ptr<Companion>& companion() { return companion_; }

    void check_invariants();

    OpLog& oplog() { return log_; }
    PeerId peer_id() const { return peer_id_; }
    void set_peer(PeerId peer) {
        peer_id_ = peer;
        peer_ = log_.atoms().intern(peer);
    }
    bool in_transaction() const { return open_; }
    // The first op of the pending transaction, or else of the last one or the last import.
    Lv began() const { return began_; }
    Lv committed_end() const { return open_ ? began_ : log_.end(); }
    IdSpan pending_span() const;
    std::size_t op_count() const {
        return static_cast<std::size_t>(std::int64_t{committed_end()} + unplaced_);
    }
    const Pending& parked() const { return *pending_; }

    DocSettings settings;

private:
    friend class ImportRun;
    friend class ImportBatch;

    Container* find_editable(Handle handle, ContainerKind kind);
    void open_transaction();
    // True if the transaction held something before its last atoms. If each edit is committed there
    // is no run to go on with.
    bool has_begun(std::uint32_t last) const { return log_.end() - last != began_; }
    void note_typing(Container& c, SequenceBody& body, std::size_t at, std::size_t erase_at,
                     std::size_t erase_step) {
        typing_ = {&body,         c.log, Handle{c.index}, log_.end(),
                   typing_.until, at,    erase_at,        erase_step};
    }

    void export_run(Container& c, const Run& run, LvSpan span, ChangeBatch& out);
    void export_local_deletes(Container& c, const Run& run, LvSpan span, ChangeBatch::Row row,
                              ChangeBatch& out);

    template <class Known, class Holds, class Note>
    bool reaches_root(Container& c, Known known, Holds holds, Note note);
    // True if the atom made a child of the container's kind.
    bool made_by(const Container& c, Lv creator);

    bool is_below(const ContainerId& id, ContainerIndex only);
    void find_paths(Diff& diff);

    PeerId peer_id_;
    OpLog log_;
    PeerIndex peer_;
    std::deque<Container> containers_;
    std::unordered_map<ContainerId, ContainerIndex> index_;
    std::unique_ptr<Pending> pending_;  // The changes that wait for others. Never null.

    std::vector<LvSpan> wanted_;  // The spans being exported. Kept for its memory.

    Container* pen_ = nullptr;  // A root that is editable unless the document is not.
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

    // The number of atoms in the base's version less the number in the log, which has heads twice.
    std::int64_t unplaced_ = 0;
    VersionVector version_;
    Lv version_end_ = 0;  // `version_` covers the log below this.

    const Past* at_ = nullptr;    // The version of the view.
    std::unique_ptr<View> view_;  // Null while the document is attached.
    std::unique_ptr<Companion> companion_;
    std::shared_ptr<Subscribers> subscribers_;
    bool committing_ = false;
    bool is_followed_ = false;
    bool doubts_roots_ = false;

    std::uint64_t epoch_ = 1;  // Grows with each op that can make or end a child container.
};

inline DocBody& body_of(const Doc& doc) {
    return *doc.body_;
}
inline DocBody& ContainerView::body() const {
    return body_of(*doc_);
}
inline Container& ContainerView::container() const {
    return body().container(handle_);
}
inline Site ContainerView::site() const {
    return {body(), container()};
}

}  // namespace quire::crdt
