// SlotTree: the undeleted slots of a movable list in order, counted in two ways: all slots, as ops
// count, and slots that show an element, as readers count.
//
// A B+tree of slots. An element is shown by at most one slot, which is found by the element's
// number. Everything is O(log n) except iterating; empty nodes are removed, small ones are not
// joined.
//
// Ops say slot positions and readers say indexes of shown elements, so every inner node stores both
// widths of each child:
//
//     slot       A  -  B  -  C      a slot with "-" shows nothing: its element was placed elsewhere
//     position   0  1  2  3  4      size() is 5
//     index      0     1     2      shown() is 3
#pragma once

#include <cstdint>
#include <vector>

namespace quire::crdt {

// The slots of one movable list.
class SlotTree {
public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    // A place in the list, with the element that it shows, if any.
    struct Slot {
        std::uint32_t lv = 0;           // The atom that made it, by number in history.
        std::uint32_t element = kNone;  // The number of the shown element.
        bool is_shown() const { return element != kNone; }
        friend bool operator==(const Slot&, const Slot&) = default;
    };

    SlotTree();
    SlotTree(const SlotTree& other);  // O(n log n).
    SlotTree& operator=(const SlotTree&) = delete;
    ~SlotTree();

    std::uint32_t size() const { return total_.slots; }
    std::uint32_t shown() const { return total_.shown; }

    // `at` counts slots. Requires that no other slot shows the element.
    // A slot goes before the one that is at `at` now; at size() it goes behind all.
    void insert(std::uint32_t at, Slot slot);
    // Removes the slot and returns it.
    Slot erase(std::uint32_t at);
    // The element's slot stays but shows nothing. Requires is_shown(element).
    void hide(std::uint32_t element);

    bool is_shown(std::uint32_t element) const {
        return element < leaves_.size() && leaves_[element] != nullptr;
    }
    Slot at(std::uint32_t at) const;           // Counts slots.
    Slot shown_at(std::uint32_t index) const;  // Counts elements.
    // The slot index of a shown element; size() for the index behind the last.
    std::uint32_t slot_index(std::uint32_t index) const;
    // The number of elements shown by the first `at` slots.
    std::uint32_t shown_before(std::uint32_t at) const;
    // An element's index among the shown ones. Requires is_shown(element).
    std::uint32_t index_of(std::uint32_t element) const;

    // Calls take(slot) for each slot in order.
    template <class Take>
    void for_each(Take take) const;

    void check_invariants() const;

private:
    // Tests compile the engine with QUIRE_SMALL_NODES, so that a few elements make deep trees.
#ifdef QUIRE_SMALL_NODES
    static constexpr std::uint32_t kLeafSlots = 3;
    static constexpr std::uint32_t kChildren = 2;
#else
    static constexpr std::uint32_t kLeafSlots = 62;
    static constexpr std::uint32_t kChildren = 16;
#endif
    struct Widths {
        std::uint32_t slots = 0;
        std::uint32_t shown = 0;
        friend bool operator==(const Widths&, const Widths&) = default;
    };
    // An inner node; slot_tree.cc has it.
    struct Inner;
    struct Leaf {
        Inner* parent = nullptr;
        Leaf* next = nullptr;
        Leaf* previous = nullptr;
        std::uint32_t count = 0;
        Slot slots[kLeafSlots];
        Widths widths() const;
    };
    // A slot: its leaf and the index there.
    struct Place {
        Leaf* leaf;
        std::uint32_t index;
    };

    // The slot at a position in one of the two counts, which must be there.
    Place find(std::uint32_t at, std::uint32_t Widths::*metric) const;
    // The widths of everything before a slot.
    Widths before(const Place& place) const;
    // Adds to the widths of a leaf at each level above it, and to the total.
    void widen(const Leaf* leaf, std::int32_t slots, std::int32_t shown);
    void split(Leaf* leaf);
    void split(Inner* inner);
    void add_child(Inner* parent, const void* left, Widths left_widths, void* right,
                   Widths right_widths);
    void remove(Leaf* leaf);
    // Has the elements that the leaf's slots from `from` on show found there.
    void note(const Leaf* leaf, std::uint32_t from);

    void* root_ = nullptr;
    bool root_is_leaf_ = true;
    Leaf* first_ = nullptr;
    Widths total_;
    std::vector<Leaf*> leaves_;  // Indexed by element: the leaf that shows it.
};

template <class Take>
void SlotTree::for_each(Take take) const {
    for (const Leaf* leaf = first_; leaf != nullptr; leaf = leaf->next) {
        for (std::uint32_t i = 0; i < leaf->count; ++i) take(leaf->slots[i]);
    }
}

}  // namespace quire::crdt
