// StandingOrder and Placing: the place of restored letters among those that are there.
//
// Undo brings a letter back as a new atom, since an id is never used twice; to the people who edit
// it is the letter that it was. So there is one standing order of all letters that a text ever had,
// in which a copy is its original: a letter stands directly behind the one that it was put behind,
// and before all that stood behind that one already, hidden or not. What comes back goes between
// those neighbours in the standing order that are visible now. So the text always reads as if undo
// had only hidden letters and shown them again, which is what "where they stood" means where others
// have edited in the meantime (tests/model/undo_model.h says the same in a few lines).
//
//     standing order    f i r s t  s e c o n d  ⏎  [of ada⏎]
//     atoms as they lie S E C O N D ⏎' [of ada⏎] f i r s t s e c o n d ⏎     (capitals, ⏎': copies)
//
// The atoms themselves lie otherwise: an insert lands before the tombstones at its place, so copies
// lie left of the originals that they should stand among, and what is typed behind a copy lies
// there with it. But their order is right among atoms that were put behind the same copy, or behind
// none. So an atom's place in the standing order is a path: the first atom on its way of left
// origins that is a copy, that copy's original, the copy which that one was put behind, and so on
// up. Two paths are compared from the top. Where they part, two atoms lie in the order of the
// sequence, and what was put behind a newer copy stands before what was put behind an older one.
//
// An edit that replaces letters deletes them first and then types in their place, so the new ones
// lie left of the old ones. They stand behind them: text that others append to the new letters has
// to follow the old ones when these come back. So letters typed where their writer had deleted just
// before, with nothing between, count as put behind the last deleted letter. That holds for texts
// and lists in which nobody edited at the same time; in others, letters stand as they lie.
//
// A container that was brought back is a copy as well: what was put at its very beginning stands
// behind the beginning of the original.
//
// If replicas edited at the same time, a letter that was typed among the originals knows nothing of
// their copies, and lies otherwise than its path says. In such a text two letters stand as they lay
// when they were first shown together, and what comes back goes to the nearest place where its two
// neighbours agree.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "crdt/doc/body.h"
#include "crdt/undo/stand_ins.h"

namespace quire::crdt {

// Consecutive atoms that are to come back, by what stood for them last.
struct Piece {
    ContainerIndex container;
    Lv lv;
    std::uint32_t len;
};

// The standing order of a container and of all that came back of it.
class StandingOrder {
public:
    // `kind`: of the container.
    StandingOrder(DocBody& body, ContainerKind kind);

    // Nothing came back yet and nothing was replaced: atoms stand as they lie.
    bool is_plain(ContainerIndex home) const {
        return names_.empty() && facts_of(home).first_replacement == kNoLv;
    }
    Lv origin(Lv atom) const { return names_.origin(atom).lv; }
    // Returns true if a stands before b. O(path · log n), and a path is as long as copies and
    // replacements were put behind one another; the atom that another was put behind is looked up
    // once. O(copies + deletes) if replicas edited at the same time.
    bool before(Lv a, Lv b) const;

private:
    struct Step {
        Lv behind;  // The copy, the replaced letter, or what made the container, that `atom` was
                    // put behind; none at the top.
        Lv atom;    // No copy; kStart for the beginning of a container.
    };
    std::optional<bool> as_shown(Lv a, Lv b) const;
    bool is_concurrent(Lv atom) const;
    std::vector<Step> path(Lv atom) const;
    const StandIns::Facts& facts_of(ContainerIndex home) const;
    Lv put_behind(Lv atom) const;
    Lv replaced_by(const Container& home, Lv first) const;
    Lv last_copy(const ContainerLog& log, Lv begin, Lv end) const;

    DocBody& body_;
    StandIns& all_;
    const Identities& names_;
};

class Placing {
public:
    // `to` is the container that pieces come back to.
    Placing(DocBody& body, Container& to);

    struct Spot {
        std::uint32_t pos;  // In entities of `to`.
        std::uint32_t len;  // How many atoms of the piece go there side by side.
    };
    // O(log n) comparisons; O(1) of them where the piece's neighbours are there as they were.
    Spot spot(const Piece& piece);

private:
    // Entities [begin, end) of `to`.
    struct Range {
        std::uint32_t begin;
        std::uint32_t end;
    };
    bool counts(std::uint32_t at, Lv lv);
    std::uint32_t next(Range range, Lv lv);
    std::uint32_t previous(Range range, Lv lv);
    bool is_before(std::uint32_t at, Lv lv);
    Range gap(Lv lv, std::uint32_t near);
    Range search(Range range, Lv lv);

    DocBody& body_;
    Container& to_;
    StandingOrder order_;
};

}  // namespace quire::crdt
