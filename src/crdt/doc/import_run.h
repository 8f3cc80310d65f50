// ImportRun: changes going into a document one after another, all of which can be taken back.
//
//     change  ->  rows  ->  log          at once: the op, at the position its author saw
//                       ->  sequence     at once, where the op is concurrent with something here
//                       ->  text, map    only in finish(), once all changes have proved sound
//
// A row goes one of three ways, cheapest first:
//   typed    it goes on where the row before it ended, as most rows do: the log's last run grows
//            (goes_on_typing), and the whole stretch is placed once, in settle();
//   linear   its version holds all that its container has: the position is one of the container
//            as it is, and only has to be within its size (apply_linear);
//   placed   it is concurrent: the sequence moves to its version and finds its place, and what
//            it does to the text is noted as an effect for later (place).
//
// If a change proves unsound, rewind() takes the log back to where it was. Sequences cannot be
// taken back: those that took something in are dropped, and built anew when they are next needed.
// That makes a refused import slow and an accepted one fast.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "crdt/doc/body.h"
#include "crdt/ids/change_batch.h"

namespace quire::crdt {

class ImportRun {
public:
    // The batch may grow during the run.
    ImportRun(DocBody& body, const ChangeBatch& batch)
        : body_(body), batch_(batch), log_(body.oplog()), mark_(log_.mark()) {}

    // The document's number for a peer of the batch.
    PeerIndex peer(std::uint32_t number) {
        return number < peers_.size() ? peers_[number] : meet(number);
    }
    // Changes of one peer of which each follows the one before it and nothing else. Requires that
    // the first one's deps and predecessor are known, and that it is new.
    Result<void> apply(std::span<const ChangeBatch::Head> heads);
    void rewind();
    void finish();
    LvSpan span() const { return {mark_.end, log_.end()}; }
    // The heads before the import. O(heads).
    Heads heads_before() const { return log_.heads_at(mark_); }

private:
    // A container as it was before the import wrote to it.
    struct Before {
        ContainerIndex container;
        ContainerLog::Mark log;
        std::uint32_t size;
        bool has_anchors;
        Lv run;
        bool run_linear;
        std::size_t effects;
        bool integrated = false;
        Heads dropped_heads = {};  // The heads of then that are none any more; in any order.
    };

    PeerIndex meet(std::uint32_t number);
    // The container of a row, having noted what it was before.
    Container& touch(std::uint32_t number);
    Before& before(const Container& c) { return before_[c.touched]; }
    // A stretch of text typed in one go, by any number of ops. It is in the log already, and is
    // placed as one. Linear text has its place already.
    struct Typed {
        Container* into = nullptr;
        SequenceBody* body = nullptr;
        std::uint32_t container = 0;  // Its number in the batch.
        std::uint32_t pos = 0;        // The end of the stretch.
        Lv lv = 0;
        Lv count = 0;
        bool linear = true;
        Heads parents;
    };

    bool has_room(const ChangeBatch::Head& head) const;
    Result<void> apply_rows(const ChangeBatch::Head& head, bool linear);
    bool goes_on_typing(const ChangeBatch::Row& row);
    Result<void> settle();
    // Text and deletes whose versions hold everything that their sequence has.
    Result<void> apply_linear(Container& c, std::span<const ChangeBatch::Row> rows);
    Result<void> apply_row(Container& c, const ChangeBatch::Row& row, bool linear);
    Result<void> apply_sequence_row(Container& c, const ChangeBatch::Row& row, bool linear);
    Result<void> place(Container& c, LvSpan atoms, bool linear, const Heads& parents);
    void leave_linear(Container& c);
    void add_head(Container& c, const Heads& parents);
    bool holds_all(Container& c) const;
    bool is_linear(Container& c);
    std::optional<Lv> element_of(const Container& c, ElementId id) const;
    std::optional<std::uint32_t> anchor_position(Container& c, const OpContent& content) const;

    DocBody& body_;
    const ChangeBatch& batch_;
    OpLog& log_;
    OpLog::Mark mark_;
    Heads parents_;  // The parents of the next atom.
    Heads deps_;
    Typed typed_;
    std::vector<PeerIndex> peers_;        // Indexed by number in the batch.
    std::vector<Container*> containers_;  // Likewise; null until touched.
    std::vector<Before> before_;
};

}  // namespace quire::crdt
