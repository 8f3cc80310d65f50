// ImportRun: changes going into a document one after another, all of which can be taken back.
//
// Ops go into the log and into the sequences as they come; texts and maps follow only once
// everything has proved to be sound. A change that fails takes the log back to where it was, and
// drops the sequences it went into, to be built anew when they are next needed.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "crdt/doc/body.h"
#include "crdt/ids/change_batch.h"

namespace quire::crdt {

class ImportRun {
public:
    // The batch may grow meanwhile.
    ImportRun(DocBody& body, const ChangeBatch& batch)
        : body_(body), batch_(batch), log_(body.log_), mark_(log_.mark()) {}

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
    const Heads& heads_before() const { return mark_.heads; }

private:
    // What a container was before the import wrote to it.
    struct Before {
        ContainerIndex container;
        ContainerLog::Mark log;
        std::uint32_t size;
        bool has_anchors;
        Heads heads;
        Lv run;
        bool run_linear;
        std::size_t effects;
        bool integrated = false;
    };

    PeerIndex meet(std::uint32_t number);
    // The container of a row, and what it was.
    Container& touch(std::uint32_t number);
    Before& before(const Container& c) { return before_[c.touched]; }
    // What was typed in a row, in however many ops: in the log already, and placed as one. Where it
    // is linear, it has its place, too.
    struct Typed {
        Container* into = nullptr;
        std::uint32_t container = 0;  // Its number in the batch.
        std::uint32_t pos = 0;        // Where it ends.
        Lv lv = 0;
        Lv count = 0;
        bool linear = true;
        Heads parents;
    };

    bool has_room(const ChangeBatch::Head& head) const;
    Result<void> apply_rows(const ChangeBatch::Head& head, bool linear);
    bool goes_on_typing(const ChangeBatch::Row& row);
    Result<void> settle();
    // Text and deletes of a sequence whose versions hold all that it has.
    Result<void> apply_linear(Container& c, std::span<const ChangeBatch::Row> rows);
    Result<void> apply_row(Container& c, const ChangeBatch::Row& row, bool linear);
    Result<void> apply_sequence_row(Container& c, const ChangeBatch::Row& row, bool linear);
    Result<void> place(Container& c, LvSpan atoms, bool linear, const Heads& parents);
    void leave_linear(Container& c);
    bool holds_all(Container& c) const;
    bool is_linear(Container& c);
    std::optional<Lv> element_of(const Container& c, ElementId id) const;
    std::optional<std::uint32_t> anchor_position(Container& c, const OpContent& content) const;

    DocBody& body_;
    const ChangeBatch& batch_;
    OpLog& log_;
    OpLog::Mark mark_;
    Heads parents_;  // Of the next atom.
    Heads deps_;
    Typed typed_;
    std::vector<PeerIndex> peers_;        // By number in the batch.
    std::vector<Container*> containers_;  // By number in the batch; null until touched.
    std::vector<Before> before_;
};

}  // namespace quire::crdt
