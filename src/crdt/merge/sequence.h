// Sequence: the order of a text's or list's atoms, tombstones and all, kept between imports.
//
// An op carries only a position in the version that wrote it. To place it, the sequence moves to
// that version (taking back and redoing what differs), finds the spot, and orders the atom among
// concurrent ones by Loro's form of the Fugue rule; what results is an effect at a position of the
// text as it is now. The walk is eg-walker's (Gentle & Kleppmann 2025, §3); the order is Fugue's
// (Weidner & Kleppmann 2023) with ties by peer. Unlike eg-walker's, the items stay: the next
// concurrent op costs the difference of two versions, not a replay.
//
// Ops whose version holds everything the container has (linear ones) are placed by position alone,
// in bulk and late: catch_up().
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "crdt/history/container_log.h"
#include "crdt/history/graph.h"
#include "crdt/merge/item_tree.h"

namespace quire::crdt {

// What an op does to the visible sequence as it is: `len` atoms from `lv` on appear at `pos`, or
// `len` entities at `pos` go.
struct Effect {
    Lv lv;  // Of the op's atoms.
    std::uint32_t len;
    std::uint32_t pos;
    bool erase;
};

class Sequence {
public:
    // Placing ops reads history; the sequence keeps nothing of it.
    struct History {
        const AtomTable& atoms;
        const Graph& graph;
        const ContainerLog& log;
    };

    // How far the container's log is in: the exclusive end.
    Lv caught_up() const { return end_; }
    // Takes in the ops of the log below `until`. Those that are not linear are placed again (a
    // sequence that is built anew); what they do to the text is not told.
    void catch_up(const History& history, Lv until);
    // Takes in the atoms `span` of a run that is not linear, whose first has these parents.
    // False when its positions do not exist in that version: the sequence is then good for nothing
    // but to be dropped.
    bool integrate(const History& history, const Run& run, LvSpan span, const Heads& parents,
                   std::vector<Effect>* effects);

    std::uint32_t visible() const { return items_.total().last; }
    // The atom at a visible position. Requires pos < visible().
    Lv atom_at(std::uint32_t pos) const;
    // Where an atom is, or would be were it not deleted, and how often it is.
    struct Place {
        std::uint32_t pos;
        std::uint32_t erased;
        std::uint32_t
            len;  // How many atoms from it on, in id order, lie side by side and fared alike.
    };
    Place place_of(Lv lv) const;
    bool contains(Lv lv) const { return lv < end_; }
    bool before(Lv a, Lv b) const {
        return items_.before(items_.find_atom(a), items_.find_atom(b));
    }

    // What the atoms [op, op + len) of a delete deleted, in the op's order: runs of consecutive
    // ids.
    struct Target {
        Lv op;
        std::uint32_t len;
        Lv first;       // Smallest atom deleted.
        bool reversed;  // The op's first atom deleted the largest.
        Lv end() const { return op + len; }
        // The part for the op's atoms [from, to).
        Target part(Lv from, Lv to) const;
    };
    std::vector<Target> targets(Lv op, std::uint32_t len) const;

    // Moves to another version. O(difference · log n).
    void move_to(const History& history, const Heads& version);
    // Calls take(lv, len) for the stretches that are visible in the version last moved to, in
    // order.
    template <class Take>
    void for_each_now(Take take) const {
        if (items_.empty()) return;
        ItemTree::Cursor at = items_.begin();
        do {
            const ItemTree::Item& item = items_.item(at);
            if (item.now == 1) take(item.lv, item.len);
        } while (items_.next(at));
    }
    // Whether an atom is visible in the version last moved to.
    bool is_visible(Lv lv) const { return items_.item(items_.find_atom(lv)).now == 1; }
    // All stretches in order, and whether each is visible in the version last moved to. Moving on
    // may cut stretches; it neither joins nor reorders them.
    template <class Take>
    void for_each(Take take) const {
        if (items_.empty()) return;
        ItemTree::Cursor at = items_.begin();
        do {
            const ItemTree::Item& item = items_.item(at);
            take(item.lv, item.len, item.now == 1);
        } while (items_.next(at));
    }
    // The same after everything; deleted stretches have visible = false.
    template <class Take>
    void for_each_last(Take take) const {
        if (items_.empty()) return;
        ItemTree::Cursor at = items_.begin();
        do {
            const ItemTree::Item& item = items_.item(at);
            take(item.lv, item.len, item.erased == 0);
        } while (items_.next(at));
    }
    // From a visible position on, until take(lv, len) returns false.
    template <class Take>
    void for_each_from(std::uint32_t pos, Take take) const {
        if (pos >= visible()) return;
        ItemTree::Cursor at = items_.find_last(pos);
        do {
            const ItemTree::Item& item = items_.item(at);
            if (item.erased == 0 && !take(item.lv + at.offset, item.len - at.offset)) return;
        } while (items_.next(at));
    }

    void check_invariants() const;
    std::size_t item_count() const { return items_.item_count(); }

private:
    void insert_last(const History& history, Lv lv, std::uint32_t len, std::uint32_t pos);
    void erase_last(Lv op, std::uint32_t len, std::uint32_t pos, bool reversed);
    std::optional<Effect> insert_now(const History& history, Lv lv, std::uint32_t len,
                                     std::uint32_t pos);
    bool erase_now(Lv op, std::uint32_t len, std::uint32_t pos, bool reversed,
                   std::vector<Effect>* effects);
    void shift(const ContainerLog& log, LvSpan span, std::int32_t by);
    bool shift_in_bulk(const ContainerLog& log);
    void cut_at(const ContainerLog& log, Lv lv);
    void cut_out(Lv lv, std::uint32_t len);
    template <class Take>
    void for_each_target(Lv op, std::uint32_t len, Take take) const;
    void shift_items(Lv lv, std::uint32_t len, std::int32_t by);
    // Where a new atom goes: its origins, and the cursors behind the left and at the right one.
    struct Gap {
        Lv lv;
        Lv left;
        Lv right;
        ItemTree::Cursor before;
        ItemTree::Cursor behind;
    };
    // The cursor behind which it goes among the concurrent ones between them.
    ItemTree::Cursor spot(const AtomTable& atoms, const Gap& gap) const;
    // An atom that lies behind the item at the cursor.
    ItemTree::Cursor find_behind(Lv lv, const ItemTree::Cursor& at) const;
    void record(Lv op, std::uint32_t len, Lv first, bool reversed);

    ItemTree items_;
    std::vector<Target> targets_;  // By op.
    Heads version_;                // Where `now` of the items stands.
    bool at_last_ = true;          // That version holds everything taken in.
    std::size_t distance_ = 0;     // What was walked since it last did,
    std::size_t linear_ = 0;       // and how many linear atoms came in since.
    Lv end_ = 0;
    std::size_t next_run_ = 0;  // Where in the log catch_up() goes on.
    Difference difference_;
};

}  // namespace quire::crdt
