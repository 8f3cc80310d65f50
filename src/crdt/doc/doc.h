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

#include "base/result.h"
#include "crdt/doc/apply.h"
#include "crdt/doc/container_view.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/cursor.h"
#include "crdt/doc/events.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "crdt/ids/change.h"
#include "crdt/ids/change_batch.h"
#include "crdt/ids/diff.h"
#include "crdt/ids/version.h"
#include "crdt/merge/style.h"

namespace quire::crdt {

struct CommitOptions {
    std::string message = {};
    std::string origin = {};
    std::int64_t timestamp = 0;
    bool want_diff = false;  // Whether Commit::diff is filled in.
};

struct ImportOptions {
    std::string origin = {};  // For events.
    bool want_diff = false;   // Whether Imported::diff is filled in.
    // The changes tell less than the history they were made from, as JSON updates do (bytes are
    // lists in them, and whole numbers may have been floats). An op that is known already is then
    // compared only by what it follows.
    bool says_less = false;
};

struct Commit {
    IdSpan span;  // Empty when the transaction held nothing.
    Diff diff;
    std::string origin;
    bool empty() const { return span.begin == span.end; }
};

struct Imported {
    std::vector<IdSpan> success;  // What this import made part of the document.
    std::vector<IdSpan> pending;  // What it parked until what it depends on arrives.
    Diff diff;
};

struct DocSettings {
    // How styles made here expand, by key.
    StyleConfig text_styles = StyleConfig::usual();
    // A commit that follows its peer's last change within this many seconds, with the same message
    // and nothing else known in between, becomes part of that change. 0: within the same second.
    std::int64_t merge_interval = 0;
};

// How deep values nest, a node of a tree counting as a level; what lies deeper is left out. A value
// this deep can be written and destroyed, which recurses, on any thread's stack.
inline constexpr int kMaxValueDepth = 1024;

class DocBody;
class HistorySource;
class StateWriter;
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
    // False for a child container that no op has made, or that was overwritten or removed with its
    // parent.
    bool is_alive(Handle container) const;
    // A pending transaction is visible. Child containers appear as their values; roots that were
    // never touched are left out. (A document that began with a state reads its history if the
    // state holds an empty root.)
    Value value(Handle container) const;
    Value value() const;

    // Views (container_view.h). They cost nothing; those of a const document only read.
    TextView text(Handle text) { return {*this, text}; }
    const TextView text(Handle text) const { return {*this, text}; }
    ListView list(Handle list) { return {*this, list}; }
    const ListView list(Handle list) const { return {*this, list}; }
    MapView map(Handle map) { return {*this, map}; }
    const MapView map(Handle map) const { return {*this, map}; }
    MovableListView movable_list(Handle list) { return {*this, list}; }
    const MovableListView movable_list(Handle list) const { return {*this, list}; }
    TreeView tree(Handle tree) { return {*this, tree}; }
    const TreeView tree(Handle tree) const { return {*this, tree}; }
    CounterView counter(Handle counter) { return {*this, counter}; }
    const CounterView counter(Handle counter) const { return {*this, counter}; }

    // --- transactions ---
    IdSpan pending() const;  // The ops of the pending transaction; empty when there is none.
    // Ends the transaction. Its change depends on the frontiers before it; timestamps never go back
    // along deps.
    Commit commit(CommitOptions options = {});

    // --- versions ---
    // What readers see; for a detached document not all that is known: see history().
    const VersionVector& version() const;
    Frontiers frontiers() const;
    History history() const { return History(*this); }

    // --- import and export ---
    // Atomic: an error changes nothing. Changes may come in any order, cut anywhere, and overlap
    // what is known; an overlap that differs, or follows something else, is refused. CHECKs that no
    // transaction is pending. Errors: corrupt; conflict "op_id_reused"; unsupported "too_large"
    // beyond 3 * 2^30 atoms.
    Result<Imported> import(ChangeBatch changes, ImportOptions options = {});
    // In causal order, cut at `from`. Left out are what waits and what is pending here. A batch
    // views the history: it holds until the next edit or import.
    ChangeBatch changes_since(const VersionVector& from) const;
    // Cut to exactly these spans. CHECKs that no transaction is pending.
    ChangeBatch changes_in(std::span<const IdSpan> spans) const;
    // Appended to a batch, whose memory can thus be used again.
    void changes_in(std::span<const IdSpan> spans, ChangeBatch& out) const;

    // --- time ---
    // A detached document shows one version. It cannot be edited (conflict "detached"), and imports
    // extend its history only. checkout() detaches, except for a version that is the latest and
    // shown already; detach() stays at the latest. All CHECK that no transaction is pending.
    // O(version in runs); containers follow when they are read. Errors: as in history.h.
    Result<void> checkout(const Frontiers& version);
    void checkout_to_latest();
    void detach();
    bool is_detached() const;
    // A document of its own with the version that readers see, or another. CHECKs that no
    // transaction is pending.
    Doc fork(PeerId peer) const;
    Result<Doc> fork_at(const Frontiers& version, PeerId peer) const;

private:
    friend class History;
    friend DocBody& body_of(const Doc& doc);
    friend bool is_blank(const Doc& doc);
    friend Result<void> open_at(Doc& doc, const OpeningVersion& version,
                                std::unique_ptr<HistorySource> source,
                                Function<Result<void>(StateWriter&)> write);
    // A document stays the same when its history comes in.
    mutable std::unique_ptr<DocBody> body_;
    mutable std::unique_ptr<UnreadHistory> unread_;
};

// Whether nothing is known, pending or parked in the document, and nobody follows what happens.
bool is_blank(const Doc& doc);

// CHECKs every promise of every structure, and that state equals a replay of history. Slow.
void check_invariants(const Doc& doc);

}  // namespace quire::crdt
