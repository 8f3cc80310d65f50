// StandIns: which atoms are copies, and what they stand for. What taking back brings back is new to
// history, since an id is never used twice; to the people who edit it is the same letter, element
// or map entry as before.
//
// The notes are kept in memory. A program that starts anew knows the copies as atoms of their own,
// but for those that it saved and recalls (stand_ins() and recall() in revert.h). Atoms may have
// other numbers then, so the ops that knew of an atom tell whether it came first, not the numbers.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "crdt/doc/body.h"

namespace quire::crdt {

class Identities {
public:
    // Consecutive atoms, the first of which is `lv`.
    struct Stretch {
        Lv lv;
        std::uint32_t len;
    };

    // Atoms copy .. copy + len, newer than any copy before, stand for of .. of + len, which may be
    // copies themselves.
    void add(Lv of, Lv copy, std::uint32_t len);

    // The originals of atoms lv .. lv + len: the first stretch of them. An atom that is no copy is
    // its own original. O(log copies).
    Stretch origin(Lv lv, std::uint32_t len = 1) const;
    // The newest copies of them.
    Stretch newest(Lv lv, std::uint32_t len = 1) const;
    // The copies of two originals at the time when the younger one came in here, or else when both
    // first were in one container; none if they never were. O(copies).
    std::optional<std::pair<Lv, Lv>> first_together(Lv a, Lv b, const OpLog& log) const;
    bool empty() const { return copies_.empty(); }
    // The oldest copy of all. Requires !empty().
    Lv first_copy() const { return copies_.front().copy; }
    // The last copy among the atoms begin .. end; kNoLv for none. O(log copies).
    Lv last_copy(Lv begin, Lv end) const;
    // Returns true if a copy from here on is newer than all.
    bool can_add(Lv copy) const {
        return copies_.empty() || copies_.back().copy + copies_.back().len <= copy;
    }
    // Calls take(of, copy, len) for the copies among [span), by copy.
    template <class Take>
    void for_each_copy(LvSpan span, Take take) const {
        auto at = std::lower_bound(copies_.begin(), copies_.end(), span.begin,
                                   [](const Copy& c, Lv value) { return c.copy + c.len <= value; });
        for (; at != copies_.end() && at->copy < span.end; ++at) take(at->of, at->copy, at->len);
    }

private:
    struct Copy {
        Lv copy;
        Lv of;  // An atom that is no copy.
        std::uint32_t len;
    };
    std::vector<Copy> copies_;  // Sorted by `copy`.
    // Origins to what stands for them last.
    std::map<Lv, Stretch> newest_;
};

// The notes of what a document brought back.
struct StandIns : Companion {
    // Letters, elements, nodes and map entries, by the atom that made or wrote them.
    Identities atoms;
    // Movable lists: a set or a new element gave a value again, and a move or a new element took a
    // place again. Trees: `values` has the decisions on a node's place that were made again.
    Identities values;
    Identities slots;

    // Writes that were taken back without a new op, because what was there before says the same:
    // to what that was, or kNoLv.
    std::unordered_map<Lv, Lv> settled;
    Lv settled_as(Lv write) const;

    // Styles put on text that came back, and in copies of texts: to the style that the text was in,
    // of which there may be several that stand for one.
    std::map<Lv, Lv> styles;
    Lv style_in_force(Lv style) const;

    // The letters behind which runs of atoms were put, by their first atoms; kNoLv for none. A
    // cache of StandingOrder.
    std::unordered_map<Lv, Lv> put_behind;
    // A container's first runs: how many were looked at, whether one of them was concurrent, and
    // the first insert that replaced something.
    struct Facts {
        std::size_t runs = 0;
        bool is_concurrent = false;
        Lv first_replacement = kNoLv;
    };
    std::unordered_map<ContainerIndex, Facts> facts;

    // Child containers: one that is deleted and brought back goes on in a copy.
    std::unordered_map<ContainerIndex, ContainerIndex> heirs;
    // The other way: what a copy was made of, as it was known to the op that made the copy.
    std::map<ContainerIndex, ContainerIndex> sources;
    std::unordered_map<ContainerIndex, ContainerIndex> firsts;  // The ends of these chains.
    void copied(ContainerIndex from, ContainerIndex to);
    // The last copy of a container; itself when it was never copied.
    ContainerIndex heir(ContainerIndex of) const;
    // The original of a container; itself when it is no copy. O(1).
    ContainerIndex first(ContainerIndex of) const;
};

// Those of a document.
StandIns& stand_ins_of(DocBody& body);

}  // namespace quire::crdt
