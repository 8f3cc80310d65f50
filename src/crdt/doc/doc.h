// Doc: one CRDT document, where history (what happened) and state (what is) meet.
//
// A document holds containers. open() gives a container's number, and a view reads and edits it:
//
//     Doc doc(/*peer=*/1);
//     const Handle notes = doc.open(ContainerId::root("notes", ContainerKind::text));
//     TRY(doc.text(notes).insert({0}, "hello"));
//     doc.commit();
//
// Local edits gather in a pending transaction; commit() ends it and returns what it did. Nothing
// here locks, encodes or reads a clock, and only subscribers (events.h) are called back.
// Thread-confined.
//
// Merging is Loro's: Fugue order for sequences, last writer by (lamport, peer) for map entries,
// deletes by position in the version that wrote them (docs/engine.md). What goes beyond this page
// has a header of its own: history.h (versions), events.h, cursor.h, apply.h (diffs as edits),
// opening.h (a document from a state), inspection.h (what a snapshot has to hold).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "crdt/doc/container_view.h"
#include "crdt/doc/transaction.h"
#include "crdt/ids/change_batch.h"
#include "crdt/ids/version.h"

namespace quire::crdt {

// How deep values nest, a node of a tree counting as a level; what lies deeper is left out. A value
// this deep can be written and destroyed, which recurses, on any thread's stack.
inline constexpr int kMaxValueDepth = 1024;

class CounterView;
class DocBody;
class History;
class HistorySource;
class ListView;
class MapView;
class MovableListView;
class ShallowStart;
class StateWriter;
class TextView;
class TreeView;
struct HistoryEnd;
struct OpeningVersion;
struct UnreadHistory;

class Doc {
public:
    explicit Doc(PeerId peer);
    Doc(Doc&&) noexcept;
    Doc& operator=(Doc&&) noexcept;
    Doc(const Doc&) = delete;
    Doc& operator=(const Doc&) = delete;
    ~Doc();

    PeerId peer() const;
    // Later local ops are this peer's. A peer that already has ops in this document goes on where
    // it stopped. CHECKs that no transaction is pending.
    void set_peer(PeerId peer);
    DocSettings& settings();

    // --- containers ---
    // A container's number, known or not yet: a root exists as soon as it is named. O(1).
    Handle open(const ContainerId& id);
    const ContainerId& id_of(Handle container) const;
    // Returns false for a child container that no op has made, or that was overwritten or removed with its
    // parent.
    bool is_alive(Handle container) const;
    // A pending transaction is visible. Child containers appear as their values; roots that were
    // never touched are left out. (A document that began with a state reads its history if the
    // state holds an empty root.)
    Value value(Handle container) const;
    Value value() const;

    // Views (container_view.h). They cost nothing; those of a const document only read. Each has a
    // header, which its users include: text.h, list.h, map.h, movable_list.h, tree.h, counter.h.
    inline TextView text(Handle text);
    inline const TextView text(Handle text) const;
    inline ListView list(Handle list);
    inline const ListView list(Handle list) const;
    inline MapView map(Handle map);
    inline const MapView map(Handle map) const;
    inline MovableListView movable_list(Handle list);
    inline const MovableListView movable_list(Handle list) const;
    inline TreeView tree(Handle tree);
    inline const TreeView tree(Handle tree) const;
    inline CounterView counter(Handle counter);
    inline const CounterView counter(Handle counter) const;

    // --- transactions ---
    IdSpan pending() const;  // The ops of the pending transaction; empty when there is none.
    // Ends the transaction. Its change depends on the frontiers before it; timestamps never go back
    // along deps.
    Commit commit(CommitOptions options = {});

    // --- versions ---
    // The version that readers see. A detached document may know more: see history().
    const VersionVector& version() const;
    Frontiers frontiers() const;
    inline History history() const;  // history.h

    // --- import and export ---
    // Atomic: an error changes nothing. Changes may come in any order, cut anywhere, and overlap
    // what is known; an overlap that differs, or follows something else, is refused. A pending
    // transaction is committed before, as by commit(). Errors: corrupt; conflict "op_id_reused";
    // unsupported "too_large" beyond 3 * 2^30 atoms.
    Result<Imported> import(ChangeBatch changes, ImportOptions options = {});
    // In causal order, cut at `from`. Left out are what waits and what is pending here; of a shallow
    // document (shallow.h) what was trimmed. A batch views the history: it holds until the next edit,
    // import or fit().
    ChangeBatch changes_since(const VersionVector& from) const;
    // Cut to exactly these spans. CHECKs that no transaction is pending.
    ChangeBatch changes_in(std::span<const IdSpan> spans) const;
    // Appended to a batch, whose memory can thus be used again.
    void changes_in(std::span<const IdSpan> spans, ChangeBatch& out) const;

    // --- time ---
    // A detached document shows one version. It cannot be edited (conflict "detached"; but see
    // edit_detached()), and imports extend its history only. checkout() detaches, except for a version that is the latest and
    // shown already; detach() stays at the latest. All commit a pending transaction before, as by
    // commit(). O(version in runs); containers follow when they are read. Errors: as in history.h.
    Result<void> checkout(const Frontiers& version);
    void checkout_to_latest();
    void detach();
    bool is_detached() const;
    // Detached editing, as in Loro: while `next_peer` is given, a detached document can be edited.
    // Edits continue the version that it shows, which they move on; imports still extend its history
    // only. Each checkout then writes as the peer that `next_peer` returns, and so does switching
    // this on in a detached document. A document that an undo history follows stays read-only, and
    // a new undo history ends this. Commits a pending transaction. A checkout then costs O(history
    // of the version).
    void edit_detached(Function<PeerId()> next_peer);
    // A document of its own with the version that readers see (fork_at() in history.h takes
    // another). CHECKs that no transaction is pending.
    Doc fork(PeerId peer) const;

    // Shrinks a container, or all of them, to what it needs while nobody looks at it. A text or a map
    // whose ops came in order becomes a row of bytes, which the next look at it reads again; others
    // give back their room for more ops. CHECKs that no transaction is pending. O(ops).
    void fit(Handle container);
    void fit();
    // Shrinks the containers again that were shrunk before and looked at since, if they are many and no
    // transaction is pending.
    void fit_reopened();
    // About what the document takes in memory. O(containers).
    std::size_t memory_bytes() const;

private:
    friend class History;
    friend DocBody& body_of(const Doc& doc);
    friend bool is_blank(const Doc& doc);
    friend Result<Doc> fork_at(const Doc& doc, const Frontiers& version, PeerId peer);
    friend Result<void> open_at(Doc& doc, const OpeningVersion& version,
                                std::unique_ptr<HistorySource> source,
                                Function<Result<void>(StateWriter&)> write);
    friend Result<void> open_shallow(Doc& doc, std::shared_ptr<const ShallowStart> start,
                                     ChangeBatch history, const HistoryEnd& end);
    friend DocBody& whole_of(const Doc& doc);
    // Detached editing. (time.cc)
    void begin_branch(PeerId peer);
    void pass_on_branch();
    void end_branch();
    Result<Imported> import_beside(ChangeBatch& changes, ImportOptions options);

    // Readers and edits use this body. A document stays the same when its history comes in.
    mutable std::unique_ptr<DocBody> body_;
    // All of the history while `body_` is an edited branch; else null.
    std::unique_ptr<DocBody> whole_;
    std::unique_ptr<DocBody> ended_;  // The last branch.
    Function<PeerId()> next_peer_;
    mutable std::unique_ptr<UnreadHistory> unread_;
};

// Returns true if nothing is known, pending or parked in the document, and it has no subscribers.
bool is_blank(const Doc& doc);

// CHECKs every promise of every structure, and that state equals a replay of history. Slow.
void check_invariants(const Doc& doc);

}  // namespace quire::crdt
