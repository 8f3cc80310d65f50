// Doc: one CRDT document, where history (what happened) and state (what is) meet.
//
// Local edits gather in a pending transaction; commit() ends it and returns what it did. Nothing
// here locks, encodes or reads a clock, and nothing calls back but to those who subscribed.
// Thread-confined.
//
// Merging is Loro's: Fugue order for sequences, last writer by (lamport, peer) for map entries,
// deletes by position in the version that wrote them (docs/engine.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "crdt/doc/cursor.h"
#include "crdt/doc/events.h"
#include "crdt/doc/tree_values.h"
#include "crdt/ids/change.h"
#include "crdt/ids/change_batch.h"
#include "crdt/ids/diff.h"
#include "crdt/ids/version.h"
#include "crdt/merge/style.h"
#include "seq/rope.h"

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
    // The changes say less than the history that they were made of, as JSON updates do (bytes are
    // lists in them, and whole numbers may have been floats): what is known is compared by what it
    // follows alone.
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
    std::vector<IdSpan> pending;  // Of what came: parked until what it depends on arrives.
    Diff diff;
};

// What a change says beside its ops.
struct ChangeHeader {
    OpId id;
    Counter len = 0;
    Frontiers deps;
    Lamport lamport = 0;
    std::int64_t timestamp = 0;
    std::string message;
};

// How deep values nest, a node of a tree counting as a level; what lies deeper is left out. A value
// this deep can be written and destroyed, which recurses, on any thread's stack.
inline constexpr int kMaxValueDepth = 1024;

// What a revert brought back: `length` atoms from `copy` on stand for those from `of` on.
struct StandIn {
    // As what. The numbers are kept in stores.
    enum class As : std::uint8_t {
        atom = 0,   // Letters, elements, nodes, map entries, styles.
        place = 1,  // No longer told, and passed over: `atom` and `slot` say it.
        value = 2,  // In movable lists a value that is given again, in trees a node's place.
        slot = 3,   // In movable lists the place.
        style = 4,  // A style put on text that came back; `of` is the one that the text was in.
        child = 5,  // The container that `of` made goes on in the one that `copy` made.
        // A write `copy` that was taken back without an op, because what `of` had written says the
        // same; with `copy` itself, because there was nothing.
        settled = 6,
    };
    OpId of;
    OpId copy;
    Counter length = 0;
    As as = As::atom;
    friend bool operator==(const StandIn&, const StandIn&) = default;
};

struct RevertOptions {
    // Whether what others deleted as well comes back, too.
    bool shared_deletes = false;
};

// Within one Doc, a container by number: cheap to keep and to pass. Never invalidated.
enum class Handle : std::uint32_t {};

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
    // Later local ops are this peer's. CHECKs that no transaction is pending. A peer that already
    // has ops in this document goes on where it stopped.
    void set_peer(PeerId peer);

    // The handle of a container, known or not yet (a root exists as soon as it is named). O(1).
    Handle open(const ContainerId& id);
    const ContainerId& id_of(Handle container) const;
    // False for a child container that no op has made, or that was overwritten or removed with its
    // parent.
    bool is_alive(Handle container) const;

    // --- reading (a pending transaction is visible) ---
    const seq::Rope& text(Handle text) const;
    std::size_t list_size(Handle list) const;
    Slot list_get(Handle list, std::size_t index) const;  // CHECKs index < size.
    ContainerId list_child(Handle list,
                           std::size_t index) const;     // CHECKs that the slot holds a container.
    OpId list_id(Handle list, std::size_t index) const;  // The atom that inserted it.
    std::optional<std::size_t> list_index_of(Handle list,
                                             OpId id) const;  // None when deleted. O(log n).
    std::optional<Slot> map_get(Handle map, std::string_view key) const;
    // Of a mergeable child (mergeable.h) map_get() has the marker.
    std::optional<ContainerId> map_child(Handle map, std::string_view key) const;
    std::vector<std::string> map_keys(Handle map) const;  // Sorted.
    // Deep values: children in place of their containers; roots that were never touched are absent
    // (so a document that began with a state reads its history where that holds an empty root).
    Value value(Handle container) const;
    Value value() const;

    // --- local edits ---
    // Errors: out_of_range "out_of_bound", "too_large"; not_found "container_deleted" for one that
    // is not alive; invalid_argument "wrong_kind", "invalid_utf8", and "invalid_name" for a root
    // container whose name is empty, and a map's with '/' or NUL: others may have made one.
    Result<void> text_insert(Handle text, text::CodePoint at, std::string_view utf8);
    Result<void> text_erase(Handle text, text::CodePoint at, text::CodePoint count);
    Result<void> list_insert(Handle list, std::size_t at, Value value);
    Result<ContainerId> list_insert_container(Handle list, std::size_t at, ContainerKind kind);
    Result<void> list_erase(Handle list, std::size_t at, std::size_t count);
    Result<void> map_set(Handle map, std::string_view key,
                         Value value);  // Setting an equal value is no op.
    Result<ContainerId> map_insert_container(Handle map, std::string_view key, ContainerKind kind);
    Result<void> map_erase(Handle map, std::string_view key);

    // --- trees (tree.cc) ---
    // Nodes are named by the atoms that made them. A parent that is none is the root of the tree.
    // An index is one among the siblings, the moved node itself not counted; none is the end.
    // Errors, beside those of local edits: not_found "node_not_found" for a node or a parent that
    // is not alive (but a node may be moved out from below an erased one); out_of_range
    // "out_of_bound"; invalid_argument "cyclic_move" for a move of a node below itself. Siblings
    // that share a fractional index with the new place's left neighbour are moved too, to make
    // room. O(log n + depth).
    Result<OpId> tree_create(Handle tree, std::optional<OpId> parent = std::nullopt,
                             std::optional<std::size_t> index = std::nullopt);
    Result<void> tree_move(Handle tree, OpId node, std::optional<OpId> parent = std::nullopt,
                           std::optional<std::size_t> index = std::nullopt);
    // Takes away the node and what is below it.
    Result<void> tree_erase(Handle tree, OpId node);
    // The map that a node holds. Errors: not_found "node_not_found".
    Result<ContainerId> tree_meta(Handle tree, OpId node) const;

    // All nodes, parents before their children, siblings in order. O(n).
    std::vector<TreeNode> tree_nodes(Handle tree) const;
    // None when it is not alive. O(log n + depth).
    std::optional<TreeNode> tree_node(Handle tree, OpId node) const;
    // How many children a node has: none where it is not alive.
    std::size_t tree_child_count(Handle tree, std::optional<OpId> parent = std::nullopt) const;
    // CHECKs index < tree_child_count().
    OpId tree_child(Handle tree, std::optional<OpId> parent, std::size_t index) const;
    std::vector<OpId> tree_children(Handle tree, std::optional<OpId> parent = std::nullopt) const;
    // What a copy of the state has to hold, after every op: each node that stands in the tree or
    // was erased with what it stood below, in no order, and the move that decides where it stands.
    // Left out is what stands below a node that nobody made.
    struct TreePlace {
        OpId id;
        bool erased = false;         // Itself; then it has no parent.
        std::optional<OpId> parent;  // None: a root of the tree.
        OpId last_move;
        Lamport lamport = 0;  // Of that move.
        Bytes position;       // Empty where the node was erased.
    };
    std::vector<TreePlace> tree_places(Handle tree) const;

    // --- movable lists: an element keeps what it is when it is moved or set ---
    // Indexes count elements. Errors as for other local edits. Reading CHECKs that it is one.
    std::size_t mlist_size(Handle list) const;
    Item mlist_get(Handle list, std::size_t index) const;  // CHECKs index < size.
    // The atom that put the element where it is: its insert, or its last move.
    OpId mlist_id(Handle list, std::size_t index) const;
    // The index that mlist_id() had the answer from; none when the element has moved on or is gone.
    std::optional<std::size_t> mlist_index_of(Handle list, OpId id) const;
    Result<void> mlist_insert(Handle list, std::size_t at, Value value);
    Result<ContainerId> mlist_insert_container(Handle list, std::size_t at, ContainerKind kind);
    Result<void> mlist_erase(Handle list, std::size_t at, std::size_t count);
    // The element is at index `to` then; moving it to where it is is no op.
    Result<void> mlist_move(Handle list, std::size_t from, std::size_t to);
    Result<void> mlist_set(Handle list, std::size_t at, Value value);  // An op, equal or not.
    Result<ContainerId> mlist_set_container(Handle list, std::size_t at, ContainerKind kind);

    // --- counters ---
    // CHECKs that it is one.
    double counter_value(Handle counter) const;
    // The value then. Errors also: invalid_argument "not_finite".
    Result<double> counter_add(Handle counter, double delta);

    bool has_pending() const;
    IdSpan pending() const;  // What the pending transaction holds so far.
    // Ends the transaction. Its change depends on the frontiers before it; timestamps never go back
    // along deps.
    Commit commit(CommitOptions options = {});

    // A commit that follows its peer's last change within `seconds`, with the same message and
    // nothing else known in between, becomes part of that change. 0 at first: the same second.
    void set_merge_interval(std::int64_t seconds);

    // --- cursors (cursor.h); for texts, lists and movable lists ---
    // A cursor on what is at `pos`, in code points or elements; at the end it stays at the end.
    // Errors: out_of_range "out_of_bound"; invalid_argument "wrong_kind".
    Result<Cursor> cursor(Handle container, std::size_t pos, Side side = Side::middle) const;
    // Where it stands now. O(log n), once the container's order of atoms is built. Errors:
    // not_found "unknown_cursor" when its atom is not known here, or no character or element of its
    // container; invalid_argument "wrong_kind".
    Result<CursorPlace> resolve(const Cursor& cursor) const;

    // --- rich text (richtext.cc) ---
    // How styles made here expand, by key; StyleConfig::usual() until it is set.
    void set_text_styles(StyleConfig config);
    const StyleConfig& text_styles() const;
    // The text with its styles: inserts only, neighbours with other attributes. O(n log n) in
    // characters and anchors. CHECKs that it is a text.
    TextDelta text_delta(Handle text) const;
    // Gives the characters [begin, end) a style; what is so already is no op. O(log anchors),
    // amortised. Errors, besides those above: invalid_argument "empty_range", "unknown_style_key".
    Result<void> text_mark(Handle text, text::CodePoint begin, text::CodePoint end,
                           std::string_view key, Value value);
    // Takes a style away: a style whose value is null.
    Result<void> text_unmark(Handle text, text::CodePoint begin, text::CodePoint end,
                             std::string_view key);
    // Does what a delta says, all or nothing: attributes that are retained are marked, or taken
    // away where they are null; inserted text has the attributes it comes with and no others.
    Result<void> text_apply_delta(Handle text, const TextDelta& delta);

    // --- history ---
    // Of the version that readers see; of a detached document, not all that is known.
    const VersionVector& version() const;
    Frontiers frontiers() const;
    // Of all that is known.
    const VersionVector& oplog_version() const;
    Frontiers oplog_frontiers() const;
    // Atomic: an error changes nothing. Changes may come in any order, cut anywhere, and overlap
    // what is known; an overlap that differs, or follows something else, is refused. Errors:
    // corrupt; conflict "op_id_reused"; unsupported "too_large" beyond 3 * 2^30 atoms. CHECKs that
    // no transaction is pending.
    Result<Imported> import(const std::vector<Change>& changes, ImportOptions options = {});
    // The same without an object for each change. The batch is left as it was.
    Result<Imported> import(ChangeBatch& batch, ImportOptions options = {});
    // In causal order, cut at `from`. Left out are what waits and what is pending here.
    std::vector<Change> changes_since(const VersionVector& from) const;
    // Cut to exactly these spans. CHECKs that no transaction is pending.
    std::vector<Change> changes_in(std::span<const IdSpan> spans) const;
    // The same, appended to a batch, whose views last until the next edit or import.
    void changes_since(const VersionVector& from, ChangeBatch& out) const;
    void changes_in(std::span<const IdSpan> spans, ChangeBatch& out) const;
    std::size_t op_count() const;
    // All that is parked, by whatever import; spans may overlap. O(what is parked).
    std::vector<IdSpan> waiting() const;

    // --- a history that is read when it is asked for (opening.h) ---
    // Nothing is known, pending or parked here, and nobody follows what happens.
    bool is_blank() const;
    // Takes the state of a version that `write` tells, and asks `source` for its history once
    // something needs that. CHECKs is_blank(). Errors: those of `write`; corrupt. The document is
    // as it was then.
    Result<void> open_at(const OpeningVersion& version, std::unique_ptr<HistorySource> source,
                         Function<Result<void>(StateWriter&)> write);
    // False until the history is there. Reading, local edits, commits and changes that came since
    // need none; whatever else has a Result reads it when it is first asked, and may then fail with
    // what load_history() fails with; and whatever has no Result CHECKs that it can be read.
    bool has_history() const;
    // Reads it. What a document shows by reference is at another place then. Errors: corrupt, for a
    // history that is damaged, or is not that of the version or what was edited here; conflict
    // "committing" while those are called who want to know before a commit.
    Result<void> load_history() const;
    // Reads it where changes_since(known) needs it.
    Result<void> load_history(const VersionVector& known) const;

    // --- inspection (inspect.cc): what a copy of the state has to hold, after every op ---
    // The containers that ops were written to, the dead among them too, in the order in which they
    // became known.
    std::vector<Handle> written() const;
    // What the atom that made a container was written to; none for a root, and for what no op made.
    std::optional<ContainerId> parent_of(const ContainerId& id) const;
    // A stretch of what a text or list shows, whose ids and lamports both count up. Into the
    // document, until it changes.
    struct Stretch {
        OpId first;
        Lamport lamport = 0;
        Counter size = 0;
        std::string_view text;              // Of a text.
        std::span<const Slot> values;       // Of a list.
        const OpContent* style = nullptr;   // A style's start or end, of size 1, and nothing else.
        const StyleStart* ended = nullptr;  // Of an end: its style, whose start may be deleted.
    };
    std::vector<Stretch> stretches(Handle sequence) const;
    // The last write of each key that was ever written, sorted by key. Likewise.
    struct Register {
        std::string_view key;
        const Slot* value = nullptr;  // Null where the key was erased.
        OpId writer;
        Lamport lamport = 0;
    };
    std::vector<Register> registers(Handle map) const;
    // The slots of a movable list in order, those that show nothing among them. Likewise.
    struct MovableSlot {
        OpId atom;
        Lamport lamport = 0;
        const Slot* shows =
            nullptr;  // Null for a slot that shows nothing; nothing below holds then.
        ElementId element;
        OpId written_by;  // The atom that gave the element its value.
        Lamport written_at = 0;
    };
    std::vector<MovableSlot> movable_slots(Handle list) const;
    double counter_total(Handle counter) const;
    Frontiers heads_of(const VersionVector& version) const;

    // --- time (time.cc); versions name committed ops ---
    // Every version that is given fails with not_found "unknown_version" where it names an op that
    // is not known here; one of several heads need not be minimal.
    //
    // A detached document shows one version. It cannot be edited (conflict "detached"), and imports
    // extend its history only. checkout() detaches, but for a version that is the latest and shown
    // already; detach() stays at the latest; the others go there. All CHECK that no transaction is
    // pending. O(version in runs); containers follow when they are read.
    Result<void> checkout(const Frontiers& version);
    void checkout_to_latest();
    void detach();
    void attach();
    bool is_detached() const;
    // A document of its own with the version that readers see, or another. CHECKs that no
    // transaction is pending.
    Doc fork(PeerId peer) const;
    Result<Doc> fork_at(const Frontiers& version, PeerId peer) const;
    // All that the heads stand for.
    Result<VersionVector> version_of(const Frontiers& version) const;
    // Without heads that others imply.
    Result<Frontiers> minimal(const Frontiers& version) const;
    // What must be taken back, and what must be done, to get from one version to another; by peer.
    struct Between {
        std::vector<IdSpan> back;
        std::vector<IdSpan> forward;
    };
    Result<Between> spans_between(const Frontiers& from, const Frontiers& to) const;
    // The changes that hold the version, latest first and no change before one that depends on it;
    // until `take` returns false.
    Result<void> travel_ancestors(const Frontiers& version,
                                  Function<bool(const ChangeHeader&)> take) const;
    // What leads from one version to the other: a container that only `to` shows with all that it
    // holds, one that `to` does not show not at all. As deep as values. O(containers touched).
    Result<Diff> diff(const Frontiers& from, const Frontiers& to) const;

    // Local edits, in the pending transaction, that do what a diff says: all of it, or, with an
    // error, nothing. A child container that the diff makes is made anew, and what the diff says of
    // it is done to the new one; what it says of a container that is not alive is left out. Errors:
    // those of local edits; invalid_argument "invalid_diff" where it does not fit the document.
    Result<void> apply_diff(const Diff& diff);
    // Local edits that make the document look as it did: diff(), applied.
    Result<void> revert_to(const Frontiers& version);

    // --- events (events.h); told while the subscription lives, at a cost only then ---
    // Every commit, import and checkout that leads to another version.
    Subscription subscribe_root(OnEvent callback);
    // Those that change the container or what is below it, with those diffs only.
    Subscription subscribe(Handle container, OnEvent callback);
    // The changes of every commit, as changes_in() has them.
    Subscription subscribe_local_updates(OnLocalUpdate callback);
    // Before every commit that holds something.
    Subscription subscribe_pre_commit(OnPreCommit callback);

    // --- taking back ---
    // New local ops, in the pending transaction, that take back what `spans` did as far as it is
    // still visible: text and elements they inserted are deleted; what they deleted, and nobody
    // else did, is inserted again where it was; map entries return to the value before them, unless
    // someone set them since. What comes back stands for what it was: a later revert of the ops
    // that made the original takes out the copy. UndoHistory (undo.h) keeps one actor's steps.
    struct Undone {
        std::size_t restored = 0;  // Atoms brought back.
        std::size_t removed = 0;   // Atoms taken out.
        std::size_t skipped = 0;   // Atoms left alone because others changed them since.
        // What was taken back without an op. To be saved with stand_ins().
        std::vector<StandIn> settled = {};
    };
    Result<Undone> revert(std::span<const IdSpan> spans, std::span<const Handle> only = {},
                          RevertOptions options = {});
    // What the ops of a committed revert stand for. A document keeps that in memory; who saves it,
    // with what reverts settled, and recall()s all of it at once into the same history, read again,
    // can go on taking back where this one stopped: the same reverts show the same. Errors: corrupt
    // for atoms that are not known, or that cannot stand for each other, because they are not of
    // the same container (or of what came back of it) and of the same kind there; a part may be
    // known then.
    std::vector<StandIn> stand_ins(const IdSpan& reverted) const;
    Result<void> recall(const std::vector<StandIn>& stand_ins);

    // The text of `text` at an earlier version. O(history of the container). Errors: not_found
    // "unknown_version".
    Result<std::string> text_at(Handle text, const Frontiers& version) const;

    // CHECKs every promise of every structure, and that state equals a replay of history. Slow.
    void check_invariants() const;

private:
    friend class UndoHistory;
    // What a document is does not change when its history comes in.
    mutable std::unique_ptr<DocBody> body_;
    mutable std::unique_ptr<UnreadHistory> unread_;
};

}  // namespace quire::crdt
