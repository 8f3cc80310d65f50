// UndoHistory: what one actor did to a document, in steps that can be taken back and done again.
//
// Undo and redo are new ops of the actor's peer (revert.h), so they travel to others like any
// edit. They take back the actor's own changes only: what others did meanwhile stays. A step is
// one commit, or several that follow each other within a while, with nobody else's change between.
//
// It belongs to one document and one peer, and learns of what is done from whoever commits:
//
//     UndoHistory history(doc);
//     doc.text(text).insert({0}, "hello");
//     history.committed(doc.commit(), clock.steady_ms());
//     history.undo(clock.steady_ms());
//
// A commit that it is not told of counts as somebody else's. Thread-confined, like the document,
// which must outlive it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/value.h"
#include "crdt/doc/cursor.h"
#include "crdt/doc/doc.h"

namespace quire::crdt {

struct UndoOptions {
    // Commits less than this after the first of a step join it; 0: each is a step of its own.
    std::int64_t merge_interval_ms = 1000;
    std::size_t max_steps = 100;  // The oldest are forgotten.
    // Commits whose origin starts so are treated as somebody else's.
    std::vector<std::string> exclude_origins = {};
};

enum class UndoDirection { undo, redo };

// A program's own note on a step: a selection, say, to be shown again when the step is undone.
struct UndoNote {
    Value value;
    std::vector<Cursor> cursors;
};

class UndoHistory {
public:
    explicit UndoHistory(Doc& doc, UndoOptions options = {});

    // The document ended a transaction. An edit of ours ends the chance to redo.
    void committed(const Commit& commit, std::int64_t now_ms);

    // Takes back the newest step, or does again what was taken back last; a pending transaction is
    // ended first and is a step itself. True when the document changed. False when there was no
    // step, or it had no effect left to take back; it is consumed all the same, and there may be
    // others: can_undo() tells. The commit's origin is "undo" either way; one call consumes one
    // step. A detached document is left alone, and no step consumed.
    bool undo(std::int64_t now_ms) { return step(UndoDirection::undo, now_ms); }
    bool redo(std::int64_t now_ms) { return step(UndoDirection::redo, now_ms); }
    bool can_undo() const { return undo_count() > 0; }
    bool can_redo() const { return redo_count() > 0; }
    std::size_t undo_count() const { return is_ours() ? undo_.size() : 0; }
    std::size_t redo_count() const { return is_ours() ? redo_.size() : 0; }
    // The commit of the last undo or redo that changed something.
    const Commit& last_commit() const { return last_commit_; }

    // Commits until the end of the group are one step, however long it takes. A change of somebody
    // else's to a container that the group has touched ends it. Errors: conflict
    // "group_already_started".
    Result<void> group_start();
    void group_end() { group_.reset(); }
    // Ends the pending transaction, and the step: what comes next is another one.
    void record_new_checkpoint(std::int64_t now_ms);

    void clear();
    void clear_undo() { undo_.clear(); }
    void clear_redo() { redo_.clear(); }
    // The note of the step that would be next; null when there is none.
    const UndoNote* top(UndoDirection direction) const;

    // Asked for what to keep with a step when it is new; the commit is null for a step that an undo
    // or redo made. Cursors are those before the step's edits.
    using OnPush = std::function<UndoNote(UndoDirection, IdSpan, const Commit*)>;
    // Told what was kept with a step after it was taken back or done again. Its cursors stand in
    // the document as it is now, on what was brought back too; one whose container is gone is left
    // out.
    using OnPop = std::function<void(UndoDirection, IdSpan, const UndoNote&)>;
    void on_push(OnPush hook) { on_push_ = std::move(hook); }
    void on_pop(OnPop hook) { on_pop_ = std::move(hook); }

private:
    struct Step {
        IdSpan span;
        UndoNote note;
    };
    struct Group {
        bool is_empty = true;
        std::set<Handle> touched;
    };
    std::deque<Step>& steps(UndoDirection direction) {
        return direction == UndoDirection::undo ? undo_ : redo_;
    }
    bool step(UndoDirection direction, std::int64_t now_ms);
    void settle(std::int64_t now_ms);
    // Ops begin .. end, in the document's own numbering, are the commit's.
    void record(const Commit& commit, std::int64_t now_ms, std::uint32_t begin, std::uint32_t end);
    bool joins(const Commit& commit, std::int64_t now_ms, bool others_between) const;
    std::vector<Handle> touched(std::uint32_t begin, std::uint32_t end) const;
    UndoNote ask(UndoDirection direction, IdSpan span, const Commit* commit) const;
    std::vector<Cursor> as_they_stand(const std::vector<Cursor>& cursors) const;
    bool is_ours() const { return doc_.peer() == peer_; }
    // Forgets all when the document has become another peer's.
    void follow_peer();

    Doc& doc_;
    UndoOptions options_;
    PeerId peer_;
    std::deque<Step> undo_;  // The newest last.
    std::deque<Step> redo_;
    std::optional<Group> group_;
    bool checkpoint_ = false;         // The next commit begins a step.
    std::int64_t step_began_ms_ = 0;  // When the first commit of the newest step was.
    std::uint32_t seen_;              // Ops numbered below this were looked at.
    // The cursors of the step popped last: what was selected before the next one.
    std::optional<std::vector<Cursor>> popped_;
    Commit last_commit_;
    OnPush on_push_;
    OnPop on_pop_;
};

}  // namespace quire::crdt
