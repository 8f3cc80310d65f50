// MovableState: the elements of a movable list, and which of its slots shows each.
//
// An insert makes a slot and an element in it; a move makes a slot for an element that is there.
// Both and a set are writes, of which the last by (lamport, peer) places the element or is its
// value: who comes last is for the caller to say, who knows history. An element is visible while
// the slot that placed it is not deleted; slots that place nothing stay, unseen, and are counted by
// ops.
#pragma once

#include <cstdint>
#include <vector>

#include "crdt/state/slot_tree.h"

namespace quire::crdt {

class MovableState {
public:
    // Atoms by their number in history.
    struct Element {
        std::uint32_t made = 0;   // By which insert.
        std::uint32_t slot = 0;   // The insert or move that places it.
        std::uint32_t value = 0;  // The insert or set whose value it has.
    };

    const SlotTree& slots() const { return slots_; }
    std::uint32_t element_count() const { return static_cast<std::uint32_t>(elements_.size()); }
    const Element& element(std::uint32_t number) const { return elements_[number]; }
    // The number of the element that atom `made` inserted, which must have. O(log runs of inserts).
    std::uint32_t number_of(std::uint32_t made) const;

    // `at` counts slots. Atoms come in ascending order.
    std::uint32_t insert(std::uint32_t at, std::uint32_t lv);
    void move(std::uint32_t at, std::uint32_t lv, std::uint32_t number, bool wins);
    SlotTree::Slot erase(std::uint32_t at) { return slots_.erase(at); }
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
