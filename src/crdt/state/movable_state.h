// MovableState: the elements of a movable list, and the slot that shows each.
//
// An insert makes a slot and an element; a move makes a new slot for an existing element. The last
// write by (lamport, peer) decides: the last insert or move places the element, the last insert or
// set gives its value. The caller knows history and says which write wins. An element is visible
// while the slot that placed it is not deleted; slots that show nothing stay and are counted by
// ops.
#pragma once

#include <cstdint>
#include <vector>

#include "crdt/state/slot_tree.h"

namespace quire::crdt {

// The state of one movable list.
class MovableState {
public:
    // An element, by the numbers of its atoms in history.
    struct Element {
        std::uint32_t made = 0;   // The insert that created it.
        std::uint32_t slot = 0;   // The insert or move that places it.
        std::uint32_t value = 0;  // The insert or set that gave its value.
    };

    const SlotTree& slots() const { return slots_; }
    std::uint32_t element_count() const { return static_cast<std::uint32_t>(elements_.size()); }
    const Element& element(std::uint32_t number) const { return elements_[number]; }
    // The number of the element that atom `made` inserted, which must exist. O(log runs of
    // inserts).
    std::uint32_t number_of(std::uint32_t made) const;

    // Adds an element and its slot, and returns the element's number. `at` counts slots. Atoms
    // arrive in ascending order. O(log n).
    std::uint32_t insert(std::uint32_t at, std::uint32_t lv);
    // Adds a slot for an existing element. With `wins` the element is shown there from now on;
    // without, the new slot shows nothing.
    void move(std::uint32_t at, std::uint32_t lv, std::uint32_t number, bool wins);
    // Removes a slot; the element that it showed becomes invisible.
    SlotTree::Slot erase(std::uint32_t at) { return slots_.erase(at); }
    // The element's value is that of atom `lv` from now on. The caller has compared the two
    // writes.
    void set(std::uint32_t number, std::uint32_t lv) { elements_[number].value = lv; }

    void check_invariants() const;

private:
    // Elements number, number + 1 and so on were made by atoms that count up from `made`.
    struct Stretch {
        std::uint32_t made;
        std::uint32_t number;
    };
    SlotTree slots_;
    std::vector<Element> elements_;
    std::vector<Stretch> stretches_;
};

}  // namespace quire::crdt
