// The steps of one actor: commits go in, and each undo or redo is a revert() of the newest one. The
// commit that it makes is a step of the other direction, so a step is a span of ops and no more.
// Others' work in between is recognised by the document's own numbering: ops from `seen_` on that
// no commit of ours accounts for. O(1) beside the revert.
#include "crdt/undo/undo_history.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/cursor.h"
#include "crdt/doc/history.h"
#include "crdt/undo/revert.h"
#include "crdt/undo/stand_ins.h"

namespace quire::crdt {

namespace {

// Moves the cursor to the newest copy of its atom, if undo brought that back.
Cursor follow(DocBody& body, Cursor cursor) {
    const StandIns& all = stand_ins_of(body);
    const AtomTable& atoms = body.oplog().atoms();
    const ContainerIndex container = body.open(cursor.container);
    ContainerIndex now = all.heir(container);
    if (cursor.anchor) {
        const std::optional<Lv> lv = atoms.lv_of(*cursor.anchor);
        const Lv newest = lv ? all.atoms.newest(*lv).lv : kNoLv;
        if (lv && newest != *lv) {
            cursor.anchor = atoms.id_of(newest);
            now = body.oplog().container_of(newest);
        } else {
            now = container;
        }
    }
    cursor.container = body.container(now).id;
    return cursor;
}

}  // namespace

UndoHistory::UndoHistory(Doc& doc, UndoOptions options)
    : doc_(doc), options_(std::move(options)), peer_(doc.peer()) {
    CHECK(doc.history().load());
    doc.edit_detached({});
    body_of(doc).follow_numbers();
    seen_ = body_of(doc).journal().committed_end();
}

void UndoHistory::follow_peer() {
    if (is_ours()) return;
    clear();
    peer_ = doc_.peer();
    seen_ = body_of(doc_).journal().committed_end();
}

void UndoHistory::clear() {
    undo_.clear();
    redo_.clear();
    group_.reset();
    popped_.reset();
}

void UndoHistory::committed(const Commit& commit, std::int64_t now_ms) {
    const bool is_new_peer = !is_ours();
    follow_peer();
    if (commit.empty() || commit.span.peer != peer_) return;
    const AtomTable& atoms = body_of(doc_).oplog().atoms();
    const Lv begin = *atoms.lv_of({peer_, commit.span.begin});
    // Its first commit is how a history learns of a new peer.
    if (is_new_peer) seen_ = std::min(seen_, begin);
    const Lv end = begin + static_cast<Lv>(commit.span.size());
    if (end <= seen_) return;  // One that step() made.
    const bool excluded =
        std::any_of(options_.exclude_origins.begin(), options_.exclude_origins.end(),
                    [&](const std::string& prefix) { return commit.origin.starts_with(prefix); });
    // Ops that are left unseen are found again as somebody else's.
    if (excluded) return;
    record(commit, now_ms, begin, end);
    seen_ = end;
}

void UndoHistory::record(const Commit& commit, std::int64_t now_ms, Lv begin, Lv end) {
    const bool others_between = seen_ < begin;
    if (group_ && others_between) {
        for (const Handle other : touched(seen_, begin)) {
            if (!group_->touched.contains(other)) continue;
            group_.reset();
            break;
        }
    }
    UndoNote note = ask(UndoDirection::undo, commit.span, &commit);
    if (joins(commit, now_ms, others_between)) {
        undo_.back().span.end = commit.span.end;
    } else {
        undo_.push_back({commit.span, std::move(note)});
        step_began_ms_ = now_ms;
    }
    if (group_) {
        group_->is_empty = false;
        for (const Handle container : touched(begin, end)) group_->touched.insert(container);
    }
    checkpoint_ = false;
    redo_.clear();
    while (undo_.size() > options_.max_steps) undo_.pop_front();
}

std::vector<Handle> UndoHistory::touched(Lv begin, Lv end) const {
    std::vector<Handle> containers;
    body_of(doc_).oplog().for_each_owner(
        {begin, end}, [&](ContainerIndex index, LvSpan) { containers.push_back(Handle{index}); });
    return containers;
}

bool UndoHistory::joins(const Commit& commit, std::int64_t now_ms, bool others_between) const {
    if (undo_.empty() || checkpoint_) return false;
    // Something of ours that is no part of a step lies between: an undo, an excluded commit.
    if (undo_.back().span.end != commit.span.begin) return false;
    // Others' edits elsewhere do not divide a group; those to its own containers ended it.
    if (others_between && !group_) return false;
    const bool in_time = now_ms - step_began_ms_ < options_.merge_interval_ms;
    return in_time || (group_ && !group_->is_empty);
}

UndoNote UndoHistory::ask(UndoDirection direction, IdSpan span, const Commit* commit) const {
    return on_push_ ? on_push_(direction, span, commit) : UndoNote{};
}

void UndoHistory::settle(std::int64_t now_ms) {
    follow_peer();
    if (!doc_.pending().empty()) committed(doc_.commit(), now_ms);
}

void UndoHistory::record_new_checkpoint(std::int64_t now_ms) {
    settle(now_ms);
    checkpoint_ = true;
}

Result<void> UndoHistory::group_start() {
    if (group_) {
        return fail(Errc::conflict, "group_already_started",
                    "a group of undo steps is open; end it before another begins");
    }
    group_ = Group{};
    return {};
}

bool UndoHistory::step(UndoDirection direction, std::int64_t now_ms) {
    // A document that shows the past is not edited.
    if (doc_.is_detached()) return false;
    settle(now_ms);
    std::deque<Step>& from = steps(direction);
    if (from.empty()) return false;
    Step taken = std::move(from.back());
    from.pop_back();

    // Loro restores on undo what the actor deleted even if another deleted it too, and takes a step
    // that changes nothing for none. So do we.
    CHECK(revert(doc_, std::vector{taken.span}, {},
                 {.shared_deletes = true, .only_visible_writes = true}));
    const bool changed = !doc_.pending().empty();
    if (changed) last_commit_ = doc_.commit({.origin = "undo"});

    // A step that goes back and forth keeps the selections that were there when it was made: that
    // of the step popped before is what was selected before this one.
    std::optional<std::vector<Cursor>> selected;
    if (on_pop_) {
        taken.note.cursors = as_they_stand(taken.note.cursors);
        selected = std::exchange(popped_, taken.note.cursors);
        on_pop_(direction, taken.span, taken.note);
    }
    if (!changed) return false;

    const bool is_undo = direction == UndoDirection::undo;
    std::deque<Step>& to = steps(is_undo ? UndoDirection::redo : UndoDirection::undo);
    UndoNote note =
        ask(is_undo ? UndoDirection::redo : UndoDirection::undo, last_commit_.span, nullptr);
    const bool is_first_undo = is_undo && to.empty();
    if (!is_first_undo && selected) note.cursors = *std::move(selected);
    to.push_back({last_commit_.span, std::move(note)});
    // Others' ops since the newest step still lie before the next commit, but so do our own new
    // ops, which keep that commit from joining the step.
    seen_ = body_of(doc_).journal().committed_end();
    return true;
}

std::vector<Cursor> UndoHistory::as_they_stand(const std::vector<Cursor>& cursors) const {
    std::vector<Cursor> standing;
    for (const Cursor& cursor : cursors) {
        const Cursor now = follow(body_of(doc_), cursor);
        const Handle container = doc_.open(now.container);
        if (!doc_.is_alive(container)) continue;
        const auto place = resolve(doc_, now);
        if (place) standing.push_back(place->renewed ? *place->renewed : now);
    }
    return standing;
}

const UndoNote* UndoHistory::top(UndoDirection direction) const {
    const std::deque<Step>& steps = direction == UndoDirection::undo ? undo_ : redo_;
    return steps.empty() || !is_ours() ? nullptr : &steps.back().note;
}

}  // namespace quire::crdt
