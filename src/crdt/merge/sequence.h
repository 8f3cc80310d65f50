// Sequence: the order of the atoms of a text or list, tombstones included, kept between imports.
//
// An op says only a position, in the version that its author saw. To place it, the sequence moves
// to that version, finds the spot there, and orders the new atom among the concurrent ones. The
// result is an Effect: what the op does to the text as it is now. The walk is eg-walker's (Gentle
// and Kleppmann, "Collaborative text editing with Eg-walker", 2025, section 3). The order is that
// of Fugue (Weidner and Kleppmann, "The Art of the Fugue", 2023) with ties broken by peer, in the
// form that Loro's files assume.
//
// Eg-walker rebuilds its items for every merge. Here they stay, so the next concurrent op costs the
// difference of two versions and not a replay.
//
//     two authors type behind the same "a":     ada: a b c      bo: a x
//
//     version {a, b, c}   items  a b c x        now: 1 1 1 0    bo's x is not there yet
//     version {a, x}             a b c x        now: 1 0 0 1    b and c are not there
//     everything                 a b c x        erased: all 0   the text reads "abcx"
//
// To place an atom, take its left origin (the atom to its left in its version) and its right
// origin (the next atom to the right that its version knows, deleted or not). Every atom between
// the two is concurrent with it. Fugue reads the origins as a tree, in which the new atom hangs on
// the right of its left origin or on the left of its right origin, and puts siblings in order of
// their right parents, then of their peers: spot() walks over the atoms between the origins and
// stops behind the last one that belongs in front.
//
// If thousands insert at one place, all their atoms have the same two origins, and the walk over them
// would make every insertion O(n). Such siblings lie in order of their peers and keep that order,
// and what is between a smaller one and the left origin never ends the walk. So spot() may begin at
// any smaller sibling. It notes every few siblings that it passes as milestones and begins at the
// last one before its peer.
//
// Invariants:
//   1. `now` of an item counts its insertion and each deletion that the version moved to knows:
//      0 not inserted, 1 visible, 1 + n deleted n times. Taking an op back subtracts what applying
//      it added, so a move between versions may take ops back and apply them in any order.
//   2. `erased` counts the deletions that are known at all. Effects and readers use it.
//   3. targets_ says, for each atom of a delete, which atom it deleted: a delete's position alone
//      would not tell this once the sequence has moved on.
//
// Linear ops (their version holds everything the container has) need none of this. They are placed
// by position in the last version, in bulk and late, when something first needs the order:
// catch_up(). Placing costs O(log n) for each run of atoms, plus the moves between versions, which
// cost O(difference * log n), or one pass over all items where that is cheaper.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "crdt/history/container_log.h"
#include "crdt/history/graph.h"
#include "crdt/merge/item_tree.h"

namespace quire::crdt {

// The effect of an op on the newest text: `len` atoms from `lv` on appear at `pos`, or `len`
// entities at `pos` disappear.
struct Effect {
    Lv lv;  // The first of the op's atoms.
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
    // Takes in the ops of the log below `until`. Ops that are not linear are placed as well, when a
    // sequence is built anew, and their effects are not recorded.
    void catch_up(const History& history, Lv until);
    // Takes in the atoms `span` of a run that is not linear, whose first has these parents.
    // False when its positions do not exist in that version; then the sequence must be dropped.
    bool integrate(const History& history, const Run& run, LvSpan span, const Heads& parents,
                   std::vector<Effect>* effects);

    std::uint32_t visible() const { return items_.total().last; }
    // The atom at a visible position. Requires pos < visible().
    Lv atom_at(std::uint32_t pos) const;
    // The place of an atom, or the place that it would have if it were not deleted, and how often
    // it is deleted.
    struct Place {
        std::uint32_t pos;
        std::uint32_t erased;
        // How many atoms from it on, in id order, lie side by side and fared alike.
        std::uint32_t len;
    };
    Place place_of(Lv lv) const;
    bool contains(Lv lv) const { return lv < end_; }
    bool before(Lv a, Lv b) const {
        return items_.before(items_.find_atom(a), items_.find_atom(b));
    }

    // The left origin of an atom in the version that wrote it, kNoLv for none. The atoms first ..
    // lv lie side by side, each behind the one before, and `first` lies behind `left`.
    struct Origin {
        Lv first;
        Lv left;
    };
    Origin origin_of(Lv lv) const {
        const ItemTree::Item& item = items_.item(items_.find_atom(lv));
        return {item.lv, item.left};
    }

    // The atoms that the atoms [op, op + len) of a delete deleted, in the order of the op: runs
    // of consecutive ids.
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

    // Calls take(op) for the ops that deleted the atom. O(deletes).
    template <class Take>
    void for_each_delete_of(Lv lv, Take take) const {
        for (const Target& target : targets_) {
            if (lv < target.first || lv >= target.first + target.len) continue;
            const Lv at = lv - target.first;
            take(target.op + (target.reversed ? target.len - 1 - at : at));
        }
    }

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
    // Returns true if an atom is visible in the version last moved to.
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
    // Like for_each(), after everything: deleted stretches have visible = false.
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
    ItemTree::Cursor take_erased(ItemTree::Cursor at, Lv op, std::uint32_t len, std::uint32_t& pos,
                                 bool reversed);
    void erase_last(Lv op, std::uint32_t len, std::uint32_t pos, bool reversed);
    std::optional<Effect> insert_now(const History& history, Lv lv, std::uint32_t len,
                                     std::uint32_t pos);
    bool erase_now(Lv op, std::uint32_t len, std::uint32_t pos, bool reversed,
                   std::vector<Effect>* effects);
    void shift(const ContainerLog& log, LvSpan span, std::int32_t by, ItemTree::Shift& items);
    bool shift_in_bulk(const ContainerLog& log);
    void cut_at(const ContainerLog& log, Lv lv);
    void cut_out(Lv lv, std::uint32_t len);
    template <class Take>
    void for_each_target(Lv op, std::uint32_t len, Take take) const;
    // The gap that a new atom goes into: its origins, the cursor behind the left origin and the
    // cursor at the right one.
    struct Gap {
        Lv lv;
        Lv left;
        Lv right;
        ItemTree::Cursor before;
        ItemTree::Cursor behind;
    };
    // The cursor behind which the new atom goes, among the concurrent atoms in the gap.
    ItemTree::Cursor spot(const AtomTable& atoms, const Gap& gap);
    bool skip_siblings(const Gap& gap, PeerId peer, ItemTree::Cursor& at) const;
    // An atom that lies behind the item at the cursor.
    ItemTree::Cursor find_behind(Lv lv, const ItemTree::Cursor& at) const;
    void record(Lv op, std::uint32_t len, Lv first, bool reversed);

    ItemTree items_;
    std::vector<Target> targets_;  // Sorted by op.
    Heads version_;                // The version that `now` of the items counts.
    bool at_last_ = true;          // True if that version holds everything taken in.
    std::size_t distance_ = 0;     // Atoms walked over since it last did.
    std::size_t linear_ = 0;       // Linear atoms that came in since it last did.
    Lv end_ = 0;
    // Siblings at which spot() may begin, by the origins that they share and by peer: their first atoms.
    std::map<std::pair<Lv, Lv>, std::map<PeerId, Lv>> milestones_;
    std::size_t next_run_ = 0;  // The run of the log at which catch_up() goes on.
    Difference difference_;
};

}  // namespace quire::crdt
