// ItemTree: the items of a sequence in document order, found by position and by atom.
//
// An item is a run of atoms that were inserted in a row and fared alike since. The tree is a B+tree
// over items that counts visible atoms in two versions at once: `now`, the version that the
// sequence has moved to, and `last`, after everything known. A merge reads positions of `now` and
// writes positions of `last`, so both are found in the same tree.
//
//     Inner   now  |  0 |  9 | 14 | 14 | ...     atoms visible before each child; from `count`
//             last |  0 |  7 | 15 | 15 | ...     on, in all
//             child|  o |  o |
//                     |    |
//                     v    v
//     Leaf          [item item item] -> [item item] -> null         in document order
//                     ^    ^     ^
//     Index   page  | 0  | 4  | 17 | ... |   sorted first atoms of items, each with its leaf
//             pages | 0  | 96 | ... |        sorted first entries of pages
//
// Invariants, which check_invariants() CHECKs:
//   1. Items are split and lengthened, never removed or reordered. So an item that was found keeps
//      its place in the order, and `left` and `right` (its origins in Fugue's sense) stay true.
//   2. Every atom lies in exactly one item, and the index holds each item's first atom once.
//   3. sums[0] is 0, sums[i + 1] - sums[i] is what child i shows, and sums[i] is the total for
//      every i >= count. A search compares all sums without a branch, in vectors of four.
//   4. All leaves have the same depth, and every node's parent and slot lead back to it.
//   5. If near_ names a leaf, it knows which positions of that version lie there. If debt_ names one, the
//      sums above it lack what the debt says.
//   6. A child that holds an item with now > 0 has its bit in `known`. A bit may stay when the last
//      such item is taken back: next_known() clears it when it finds nothing, and each bit was set
//      by an operation that walked up the tree anyway, so clearing costs nothing more, amortised.
//
// Finding, inserting, splitting and adjusting cost O(log n); a step to the next item is O(1). The
// positions of a merge mostly lie close together, which is why the last leaf found is kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/function.h"
#include "crdt/history/atoms.h"

namespace quire::crdt {

// Tests compile the engine with QUIRE_SMALL_NODES, so that a few words make deep trees.
#ifdef QUIRE_SMALL_NODES
inline constexpr std::uint32_t kLeafItems = 3;
inline constexpr std::uint32_t kInnerChildren = 2;
inline constexpr std::size_t kIndexPage = 4;
#else
inline constexpr std::uint32_t kLeafItems = 32;
inline constexpr std::uint32_t kInnerChildren = 16;
inline constexpr std::size_t kIndexPage = 512;
#endif

class ItemTree {
public:
    // Atoms lv .. lv + len that were inserted in a row and fared alike since.
    struct Item {
        Lv lv;
        std::uint32_t len;
        Lv left;   // Left origin of the first atom; that of each other atom is the one before.
        Lv right;  // Right origin of all of them.
        // In the version we stand at: 0 for not yet inserted, 1 for visible, 1 + n for deleted n
        // times.
        std::uint32_t now;
        std::uint32_t erased;  // How often everything known deletes it.

        Lv end() const { return lv + len; }
        std::uint32_t visible_now() const { return now == 1 ? len : 0; }
        std::uint32_t visible_last() const { return erased == 0 ? len : 0; }
    };

    struct Inner;
    struct Node {
        explicit Node(bool leaf) : is_leaf(leaf) {}

        Inner* parent = nullptr;
        std::uint16_t slot = 0;  // In the parent.
        const bool is_leaf;
        std::uint32_t count = 0;  // The number of items or children.
    };
    struct Leaf : Node {
        Leaf() : Node(true) {}

        Leaf* next = nullptr;
        Leaf* copy = nullptr;  // Its copy, while the tree is copied.
        Item items[kLeafItems];

        // Requires room.
        void put(std::uint32_t index, const Item& item) {
            std::copy_backward(items + index, items + count, items + count + 1);
            items[index] = item;
            ++count;
        }
    };
    struct Widths {
        std::uint32_t now = 0;
        std::uint32_t last = 0;
    };
    // An atom, or the place behind one: `offset` atoms into an item.
    struct Cursor {
        Leaf* leaf = nullptr;
        std::uint32_t index = 0;
        std::uint32_t offset = 0;
    };

    ItemTree();
    ItemTree(ItemTree&&) noexcept;
    ItemTree& operator=(ItemTree&&) noexcept;
    // O(n), most of it copying memory.
    ItemTree(const ItemTree& other);
    ItemTree& operator=(const ItemTree&) = delete;
    ~ItemTree();

    Widths total() const;
    bool empty() const { return index_.empty(); }

    static const Item& item(const Cursor& at) { return at.leaf->items[at.index]; }
    // The atom number `pos` of those visible now, or after everything. Requires that there is one.
    Cursor find_now(std::uint32_t pos) const;
    Cursor find_last(std::uint32_t pos) const;
    Cursor find_atom(Lv lv) const;  // Requires that it is here.
    Cursor begin() const { return {first_, 0, 0}; }
    // Moves to the next item; false, and unmoved, at the end.
    static bool next(Cursor& at) {
        if (at.index + 1 < at.leaf->count) {
            ++at.index;
        } else if (at.leaf->next != nullptr) {
            at.leaf = at.leaf->next;
            at.index = 0;
        } else {
            return false;
        }
        at.offset = 0;
        return true;
    }
    // Moves to the next item that the version stood at knows, deleted or not; false, and unmoved, if
    // there is none. O(log n) amortised, however many items lie between.
    bool next_known(Cursor& at);
    // How many atoms before the cursor's atom are visible after everything.
    std::uint32_t last_before(const Cursor& at) const;
    // Returns true if a's atom comes before b's.
    bool before(const Cursor& a, const Cursor& b) const;

    // Puts the item at the cursor, splitting what is there. `join`: it may lengthen the item before
    // it, if that one ends where it starts and fared the same. Returns where it is.
    Cursor insert(Cursor at, const Item& item, bool join);
    // Makes [offset, offset + len) of the item at the cursor an item of its own.
    Cursor isolate(Cursor at, std::uint32_t len);
    // Adds to an item's counts.
    void adjust(const Cursor& at, std::int32_t now, std::int32_t erased);
    // Adds to the `now` of many items.
    class Shift;
    // Adds by(item) to every item's `now`. O(n): cheaper than seeking each one.
    void adjust_all(Function<std::int32_t(const Item&)> by);

    void check_invariants() const;
    std::size_t item_count() const { return count_; }

private:
    // The first atoms of items, sorted, and the leaf of each.
    struct Page {
        std::vector<Lv> starts;
        std::vector<Leaf*> leaves;
    };

    // The leaf that the last position was found in, and the positions of that version that lie
    // there. An edit of another leaf may move them, and clears this.
    struct Near {
        Leaf* leaf = nullptr;
        std::uint32_t Widths::*metric = nullptr;
        std::uint32_t begin = 0;
        std::uint32_t width = 0;
    };

    // The widths by which a leaf has grown, and which the sums above it do not have yet. Edits mostly
    // follow each other in one leaf, so the sums are changed once for all of them, before any sum is
    // read that they belong to. Sums of what lies before the leaf are right meanwhile.
    struct Debt {
        Leaf* leaf = nullptr;  // Null for none.
        Widths by = {};
    };

    Cursor find(std::uint32_t pos, std::uint32_t Widths::*metric) const;
    Cursor place(Cursor at, const Item& item);
    void split_leaf(Leaf* leaf);
    void split_inner(Inner* inner);
    void add_child(Node* left, Widths left_widths, Node* right, Widths right_widths);
    void widen(Leaf* leaf, std::int64_t now, std::int64_t last);
    void settle() const;
    static void set_known(Node* node);
    static bool first_known(Node* node, Cursor& at);
    std::size_t page_of(Lv lv) const;
    void index_insert(Lv lv, Leaf* leaf);
    void index_move(Leaf* leaf);
    void destroy();
    static Node* copy_below(const Node* node, Leaf**& last);
    Widths adjust_below(Node* node, Function<std::int32_t(const Item&)>& by);
    static Leaf* as_leaf(Node* node) { return static_cast<Leaf*>(node); }
    static Inner* as_inner(Node* node);

    Node* root_ = nullptr;
    Leaf* first_ = nullptr;
    std::size_t count_ = 0;
    mutable Near near_;  // Unknown while its leaf is null.
    mutable Debt debt_;
    std::vector<Page> index_;
    std::vector<Lv> index_first_;
};

// Atoms that follow each other mostly lie side by side, so an item is looked for beside the last one
// first. The tree must not be changed otherwise meanwhile.
class ItemTree::Shift {
public:
    explicit Shift(ItemTree& tree) : tree_(tree) {}

    // Adds `by` to the `now` of the atoms [lv, lv + len). O(log n) for each item.
    void add(Lv lv, std::uint32_t len, std::int32_t by);

private:
    Cursor find(Lv lv) const;

    ItemTree& tree_;
    Cursor last_;  // The item that was changed last; none if its leaf is null.
};

}  // namespace quire::crdt
