// DocBody: what a Doc is made of. History takes ops in; containers hold what they amount to, and
// lag behind until they are read.
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "crdt/doc/doc.h"
#include "crdt/doc/view.h"
#include "crdt/history/oplog.h"
#include "crdt/history/past.h"
#include "crdt/history/pending.h"
#include "crdt/ids/change_batch.h"
#include "crdt/ids/placement.h"
#include "crdt/merge/sequence.h"
#include "crdt/merge/style.h"
#include "crdt/state/map_state.h"
#include "seq/rope.h"

namespace quire::crdt {

class MovableState;
class Splices;
class Subscribers;
class TextState;
class TreeState;
enum class Side : std::int8_t;
struct Cursor;
struct CursorPlace;
struct Event;
struct MovableBody;
struct TreeBody;

struct Container {
    Container();
    Container(const Container&) = delete;
    Container& operator=(const Container&) = delete;
    ~Container();

    ContainerId id;
    ContainerIndex index = 0;
    ContainerLog* log = nullptr;

    // Text, List and MovableList, whose ops hold positions.
    bool is_sequence() const {
        return id.kind == ContainerKind::text || id.kind == ContainerKind::list ||
               id.kind == ContainerKind::movable_list;
    }
    // Sequences: the visible entities (of a movable list the slots) after every op of the log.
    std::uint32_t size = 0;
    bool has_anchors = false;
    // Sequences: the order of atoms, tombstones and all; made when first needed.
    std::unique_ptr<Sequence> sequence;
    // The heads among this container's ops; true only where its last run is not linear (else that
    // is the head).
    Heads heads;
    std::size_t touched = 0;  // Where the import that is going on notes what it was.
    // Whether an import's ops in the graph's run from `run` on hold all of this container: atoms
    // that follow one another fare alike.
    Lv run = kNoLv;
    bool run_linear = false;
    // Sequences and Counter: the state holds ops below `flushed`; `effects` is what those above
    // that are not linear do.
    Lv flushed = 0;
    std::size_t flushed_run = 0;
    std::vector<Effect> effects;
    std::size_t next_effect = 0;
    std::unique_ptr<TextState> text;

    std::unique_ptr<MapState> map;
    std::unique_ptr<MovableBody> movable;
    double sum = 0;  // Counter.

    std::unique_ptr<TreeBody> tree;  // Tree: made when first needed.

    // Whether it was alive when DocBody::epoch_ was `alive_at`.
    mutable std::uint64_t alive_at = 0;
    mutable bool alive = false;
};

// What a room above keeps with a document: undo keeps there which atoms stand for which.
struct Companion {
    Companion() = default;
    Companion(const Companion&) = delete;
    Companion& operator=(const Companion&) = delete;
    virtual ~Companion() = default;
};

class DocBody {
public:
    explicit DocBody(PeerId peer) : peer_id_(peer), peer_(log_.atoms().intern(peer)) {}

    // --- containers (containers.cc) ---
    ContainerIndex open(const ContainerId& id);
    bool knows(const ContainerId& id) const { return index_.contains(id); }
    Container& container(Handle handle) { return containers_[static_cast<ContainerIndex>(handle)]; }
    Container& container(ContainerIndex index) { return containers_[index]; }
    static ContainerLog& log_of(const Container& c) { return *c.log; }
    bool is_alive(Container& c);  // (alive.cc)
    // The container, if local edits of this kind may go there; else null, and refuse() says why.
    Container* editable(Handle handle, ContainerKind kind) {
        if (view_ != nullptr || !has_room()) return nullptr;
        // Mostly it is the one that the edit before went to.
        if (pen_ != nullptr && Handle{pen_->index} == handle && pen_->id.kind == kind) return pen_;
        return find_editable(handle, kind);
    }
    Failure refuse(Handle handle, ContainerKind kind);
    static Failure refuse_detached();
    // Whether a local edit finds numbers for its atoms, which are never more than one container
    // holds. A state from elsewhere may claim that the peer here has used up its own.
    bool has_room() const {
        constexpr Counter kMostEdited = 1 << 30;
        return log_.end() <= kMostAtoms &&
               log_.atoms().end_of(peer_) <= std::numeric_limits<Counter>::max() - kMostEdited;
    }
    // The slot that an atom put into its list or map entry; null when it put none.
    const Slot* slot_of(Lv lv);
    ContainerId child_id(Lv lv, ContainerKind kind) const {
        return ContainerId::normal(log_.atoms().id_of(lv), kind);
    }

    // --- state (state.cc) ---
    // Brings a text or list's state up to the log below `until`.
    void flush(Container& c, Lv until);
    void flush(Container& c) {
        if (c.has_anchors) note_changes(c);
        flush(c, log_.end());
    }
    // The container's sequence, with everything in.
    Sequence& sequence(Container& c);
    Sequence::History history(const Container& c) {
        return {log_.atoms(), log_.graph(), log_of(c)};
    }
    const seq::Rope& text(Container& c);
    Lv atom_at(Container& c, std::size_t index) {
        return sequence(c).atom_at(static_cast<std::uint32_t>(index));
    }
    void apply_map(Container& c, const Run& run);

    // --- values (value.cc): at a version, or with `at` null after everything ---
    // The version that readers are to see; null is the latest.
    const Past* at() const { return view_ == nullptr ? nullptr : &view_->past; }
    Value value(Container& c, int depth, const Past* at);
    Value root_value(const Past* at);
    // What a slot or map entry that atom `lv` filled is worth.
    Value slot_value(const Slot& slot, Lv lv, int depth, const Past* at);
    Item slot_item(const Slot& slot, Lv lv) const;
    // The child that a map shows where the atom is what decides the key; none for a plain value.
    std::optional<ContainerId> entry_child(const Container& map, std::string_view key, Lv lv);
    Value text_value(Container& c, const Past* at);
    Value list_value(Container& c, int depth, const Past* at);
    Value map_value(Container& c, int depth, const Past* at);
    // The write that decides a key; null when there is none.
    static const MapState::Write* map_write(const MapState::Entry& entry, const Past* at);

    // --- versions (view.cc) ---
    // Errors: not_found "unknown_version".
    Result<Heads> heads_of(const Frontiers& version) const;
    Past past_of(Heads heads) const;
    VersionVector version_of(const Past& past) const;
    // What readers see: of the view when there is one.
    const VersionVector& shown_version();
    const Heads& shown_heads() const {
        return view_ == nullptr ? log_.heads() : view_->past.heads();
    }
    const seq::Rope& shown_text(Container& c);
    const std::vector<Lv>& shown_list(Container& c);              // CHECKs that there is a view.
    const std::vector<MovableItem>& shown_movable(Container& c);  // So does this.
    Lv list_atom(Container& c, std::size_t index) {
        return view_ == nullptr ? atom_at(c, index) : shown_list(c)[index];
    }
    // The write that decides a key, unless it erases it; else null.
    const MapState::Write* shown_write(const Container& c, std::string_view key) const;
    seq::Rope rope_at(Container& c, const Past& at);
    std::vector<Lv> list_atoms(Container& c, const Past* at);  // The visible ones, in order.
    bool is_alive(Container& c, Reach& reach);
    // Readers see this version from now on; none: the latest, whatever comes.
    void show(std::optional<Past> version);
    void go(std::optional<Past> version);  // The same as a checkout, which is told. (time.cc)
    View* view() { return view_.get(); }

    // --- diffs (diff.cc) ---
    // What the ops of the span, the log's last, did; `before` are the heads before them.
    Diff diff_of(LvSpan span, Heads before);
    // Of one container, that both versions show: what the ops of `span`, the log's last, did
    // between `a` and `b`; what lies between any two versions; and all that it holds.
    Delta delta_of(Container& c, LvSpan span, const Past& a, const Past& b);
    Delta delta_between(Container& c, const Past& a, const Past& b);
    Delta delta_from_nothing(Container& c, const Past* at);
    // The atoms of a text or list in order, and in which of two versions each stretch is visible.
    struct Compared {
        Lv lv;
        std::uint32_t len;
        bool in_a;
        bool in_b;
    };
    std::vector<Compared> compare(Container& c, const Past& a, const Past& b);
    TextDelta text_diff(Container& c, const Past& a, const Past& b);
    ListDelta list_diff(Container& c, const Past& a, const Past& b);
    MapDelta map_diff(Container& c, const Past& a, const Past& b);
    TextDelta text_delta_of(Container& c, LvSpan span);
    ListDelta list_delta_of(Container& c, LvSpan span);
    MapDelta map_delta_of(Container& c, LvSpan span);
    Splices splices_in(Container& c, LvSpan span);

    // --- rich text (richtext.cc, richtext_diff.cc) ---
    TextDelta text_delta(Container& c, const Past* at);
    TextDelta text_delta_at(Container& c, const Heads& heads);
    TextDelta text_delta_of(const Container& c, const std::vector<Compared>& parts);
    // Has the state note what a pending transaction does to styles, for its commit to tell.
    void note_changes(Container& c);
    // What the ops of the span, the log's last, did between `a` and `b`.
    TextDelta rich_delta_of(Container& c, LvSpan span, const Past& a, const Past& b);
    // The start of the style that an atom ends.
    std::optional<Lv> style_start(Lv end) const;
    const StyleStart& style_at(const Container& c, Lv start) const;
    // Puts an anchor at an entity position of the state.
    void apply_anchor(Container& c, const Run& run, std::uint32_t pos);
    // Local ops; positions in code points, which must exist. Styling what is so already is no op;
    // a null value takes a style away.
    struct Marking {
        std::size_t begin;
        std::size_t end;
        std::string_view key;
        Value value;
        Expand expand;
    };
    void mark(Container& c, Marking marking);
    void erase_text(Container& c, std::size_t at, std::size_t count);
    void insert_style(Container& c, StyleStart style);  // In entities, as the op has it.
    Result<void> check_delta(Container& c, const TextDelta& delta);
    void apply_delta(Container& c, const TextDelta& delta);

    // --- movable lists (movable_list.cc; local ops in movable_edit.cc) ---
    // The state, with everything in.
    MovableState& movable(Container& c);
    // Whether a slot shows an element with the value that atom `value` gave it.
    bool is_shown(Container& c, Lv value);
    // What a reader sees, in order. O(n), at a version O(history of the container · log n).
    std::vector<MovableItem> movable_items(Container& c, const Past* at);
    Value movable_value(Container& c, int depth, const Past* at);
    std::optional<std::uint32_t> movable_index_of(Container& c, Lv lv);
    ListDelta movable_diff(Container& c, const Past& a, const Past& b);
    // What the ops of the span, the log's last, did. O(ops · log n).
    ListDelta movable_delta_of(Container& c, LvSpan span);
    void check_movable(Container& c);
    // `at` and `to` count slots, `number` is an element's.
    void movable_move(Container& c, std::uint32_t from, std::uint32_t to, std::uint32_t number);
    Lv movable_set(Container& c, std::uint32_t number, Slot value);

    // --- counters (counter.cc) ---
    // The sum of all deltas, in the order in which they became known. O(new ones), at a version
    // O(all).
    double counter_value(Container& c, const Past* at);
    CounterDelta counter_diff(Container& c, const Past& a, const Past& b);
    void counter_add(Container& c, Value delta);
    static Value counter_delta(double delta);

    // --- events (events.cc) ---
    const std::shared_ptr<Subscribers>& subscribers();
    bool wants_events() const;
    void before_commit(CommitOptions& options);
    // `span` is what was committed; the event holds its diffs if wants_events().
    void after_commit(LvSpan span, Event event);
    // Requires wants_events().
    void tell(Event event);
    // The way to a container that readers see.
    std::vector<PathStep> path_of(Container& c);

    // --- local ops (local.cc); positions in entities ---
    void begin() {
        if (!open_) open_transaction();
    }
    void insert_text(Container& c, std::uint32_t at, std::string_view utf8, std::uint32_t len) {
        begin();
        log_of(c).insert_text({log_.end(), at, len, true, log_.joins()}, utf8);
        log_.append(c.index, len);
        c.size += len;
        if (has_begun(len) && !c.has_anchors) note_typing(c, std::size_t{at} + len, kNowhereAt, 0);
    }
    // What most edits are: one more letter where the last one was typed, or one more deleted where
    // the last one was. False, and nothing is done, where it is anything else.
    bool type_on(Handle text, std::size_t at, std::string_view utf8) {
        if (at != typing_.at || log_.end() != typing_.end || Handle{typing_.in->index} != text ||
            utf8.size() != 1 || static_cast<unsigned char>(utf8[0]) >= 0x80)
            return false;
        const bool fits = typing_.end < typing_.until && at <= typing_.in->size;
        if (!fits || !typing_.in->log->type(utf8[0])) return false;
        log_.extend();
        ++typing_.in->size;
        ++typing_.at;
        ++typing_.end;
        return true;
    }
    bool erase_on(Handle text, std::size_t at, std::size_t count) {
        if (at != typing_.erase_at || log_.end() != typing_.end ||
            Handle{typing_.in->index} != text || count != 1 || at >= typing_.in->size ||
            typing_.end >= typing_.until)
            return false;
        typing_.in->log->erase_on();
        log_.extend();
        --typing_.in->size;
        typing_.erase_at += typing_.erase_step;  // One less, or the same.
        ++typing_.end;
        return true;
    }
    void insert_values(Container& c, std::uint32_t at, std::vector<Slot> values);
    void erase(Container& c, std::uint32_t at, std::uint32_t len);
    void write_map(Container& c, OpContent op);
    Commit commit(CommitOptions options);

    // --- import (import.cc) ---
    // The batch is given back as it was.
    Result<Imported> import(ChangeBatch& batch, ImportOptions options);

    // --- export (export.cc) ---
    // Appends what they hold. Views last until the log grows.
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
    // The same with the history in front of what was done here, in which a transaction that is
    // pending still is. Errors: corrupt.
    Result<std::unique_ptr<DocBody>> with_history(ChangeBatch history, const VersionVector& end,
                                                  const Frontiers& heads);
    // All that the state holds is in the log. Errors: unsupported.
    Result<void> end_base(const OpeningVersion& version);
    // Which roots were ever written cannot be told without the history.
    void doubt_roots() { doubts_roots_ = true; }
    bool doubts_roots() const { return doubts_roots_; }
    bool is_committing() const { return committing_; }
    // From now on somebody keeps atoms by their numbers.
    void follow_numbers() { is_followed_ = true; }
    bool is_unfollowed() const { return pending_.empty() && !is_followed_ && !wants_events(); }
    bool has_subscribers() const { return subscribers_ != nullptr; }
    void share_subscribers(const DocBody& other) { subscribers_ = other.subscribers_; }

    // --- cursors (cursor.cc); positions as readers count them ---
    static bool has_positions(const Container& c) { return c.is_sequence(); }
    std::size_t cursor_size(Container& c);
    Cursor cursor_at(Container& c, std::size_t pos, Side side);  // CHECKs pos.
    Lv anchor_at(Container& c, std::size_t pos);
    // Where what the atom made stands or would stand, and whether it is there.
    std::pair<std::size_t, bool> place_of(Container& c, Lv anchor);
    void for_each_shown(Container& c, Function<void(Lv, std::uint32_t, bool)> take);
    Result<CursorPlace> resolve(Container& c, const Cursor& cursor);

    Result<std::string> text_at(Container& c, const Frontiers& version);

    // What a room above keeps with the document while the document lives; null until it puts
    // something there.
    std::unique_ptr<Companion>& companion() { return companion_; }

    // --- trees (tree_body.cc) ---
    // The tree, brought to a version.
    TreeBody& tree(Container& c, const Past* at);
    // The node by number if it is alive at the version.
    std::optional<NodeIndex> tree_node(Container& c, OpId node, const Past* at);
    Value tree_value(Container& c, int depth, const Past* at);
    // Whether the map that is named after a node is below it. Ops may place a node that nobody
    // made, or that is named after an atom of another container: what has such a name has another
    // way up or none, may hold itself, and may stand in many trees.
    bool has_meta(const Container& tree, OpId node) const {
        const std::optional<Lv> made = log_.atoms().lv_of(node);
        return made && log_.container_of(*made) == tree.index;
    }
    TreeDelta tree_diff(Container& c, const Past& a, const Past& b);
    TreeDelta tree_from_nothing(Container& c, const Past* at);
    void write_tree(Container& c, OpContent op);
    // A position for `node` as the index-th child of `parent`, itself not counted (it may be
    // nowhere yet), and then those of the siblings behind it that have to make room.
    std::vector<std::pair<NodeIndex, Bytes>> tree_positions(const TreeState& state, NodeIndex node,
                                                            NodeIndex parent, std::size_t index);
    void check_tree(Container& c);

    void check_invariants();
    void check_sequence(Container& c);  // check.cc

    OpLog& oplog() { return log_; }
    PeerId peer_id() const { return peer_id_; }
    void set_peer(PeerId peer) {
        peer_id_ = peer;
        peer_ = log_.atoms().intern(peer);
    }
    bool in_transaction() const { return open_; }
    Lv committed_end() const { return open_ ? began_ : log_.end(); }
    IdSpan pending_span() const;
    std::size_t op_count() const {
        return static_cast<std::size_t>(std::int64_t{committed_end()} + unplaced_);
    }
    std::deque<Container>& containers() { return containers_; }
    std::vector<IdSpan> waiting() const { return pending_.spans(); }
    std::size_t pending_count() const { return pending_.size(); }

    DocSettings settings;

private:
    friend class ImportRun;
    friend class ImportBatch;

    Container* find_editable(Handle handle, ContainerKind kind);
    void open_transaction();
    // Whether there was something in the transaction before these atoms. Where each edit is
    // committed there is no run to go on with.
    bool has_begun(std::uint32_t last) const { return log_.end() - last != began_; }
    void note_typing(Container& c, std::size_t at, std::size_t erase_at, std::size_t erase_step) {
        typing_ = {&c, log_.end(), typing_.until, at, erase_at, erase_step};
    }

    void export_run(Container& c, const Run& run, LvSpan span, ChangeBatch& out);
    void export_local_deletes(Container& c, const Run& run, LvSpan span, ChangeBatch::Row row,
                              ChangeBatch& out);

    std::optional<seq::Rope> rope_before(Container& c, const Past& at);
    // --- what can be reached (alive.cc) ---
    template <class Known, class Holds, class Note>
    bool reaches_root(Container& c, Known known, Holds holds, Note note);
    // Whether the atom made a child of the container's kind, and, if so, whether what it wrote is
    // there now or at the version.
    bool made_by(const Container& c, Lv creator);
    bool holds_child(Container& parent, Lv creator);
    bool holds_child(Container& parent, Lv creator, Reach& reach);
    static const std::string& map_key(const Container& map, Lv creator);

    // Which slot and value an element has at a version, by its number; kNoLv where it has none yet.
    std::vector<MovableItem> movable_winners(Container& c, const Past& at);
    std::uint32_t element_in(Container& c, Lv slot);
    void apply_movable(Container& c, const Run& run, LvSpan span);

    bool is_below(const ContainerId& id, ContainerIndex only);
    void find_paths(Diff& diff);
    PathStep step_to(Container& parent, Lv creator);

    PeerId peer_id_;
    OpLog log_;
    PeerIndex peer_;
    std::deque<Container> containers_;
    std::unordered_map<ContainerId, ContainerIndex> index_;
    Pending pending_;

    std::vector<LvSpan> wanted_;  // What is being exported, kept for its memory.

    Container* pen_ = nullptr;  // A root that is editable unless the document is not.
    // Where a run of a text goes on, while `end` is the log's: after an op of the pending
    // transaction and before any other.
    static constexpr std::size_t kNowhereAt = ~std::size_t{0};
    struct Typing {
        Container* in = nullptr;
        Lv end = kNoLv;
        // So far the log may grow: has_room() when the run began leaves that much.
        Lv until = 0;
        std::size_t at = kNowhereAt;
        std::size_t erase_at = kNowhereAt;
        std::size_t erase_step = 0;
    } typing_;
    bool open_ = false;  // A transaction is pending; its ops are in the log from `began_` on.
    Lv began_ = 0;       // Else: where the last one, or the last import, began.

    // How many atoms more the base's version has than the log, where heads are twice.
    std::int64_t unplaced_ = 0;
    VersionVector version_;
    Lv version_end_ = 0;  // `version_` covers the log below this.

    std::unique_ptr<View> view_;  // Of a detached document.
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

}  // namespace quire::crdt
