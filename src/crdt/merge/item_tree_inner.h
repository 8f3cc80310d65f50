// The inner nodes of ItemTree, for its own sources.
#pragma once

#include <algorithm>

#include "crdt/merge/item_tree.h"

namespace quire::crdt {

// Sums instead of widths: a search is one comparison with every sum, and widening a child is one
// addition to every sum behind it. Both loops have a fixed length, so that the compiler turns them
// into a few vector instructions without a branch.
struct ItemTree::Inner : Node {
    // One child more than may stay: a node is split after the insertion that overfills it.
    static constexpr std::uint32_t kRoom = kInnerChildren + 1;
    // A sum before each child and one in all, rounded up to whole vectors of four.
    static constexpr std::uint32_t kSums = (kRoom + 4) / 4 * 4;
    using Sums = std::uint32_t[kSums];

    Sums now;
    Sums last;
    std::uint32_t known = 0;  // A bit for each child that may hold an item with now > 0.
    static_assert(kRoom <= 32);
    Node* children[kRoom];

    Inner() : Node(false) {
        now[0] = last[0] = 0;
        end_at(0);
    }
    void end_at(std::uint32_t size) {
        count = size;
        std::fill(now + size + 1, now + kSums, now[size]);
        std::fill(last + size + 1, last + kSums, last[size]);
    }
    Widths total() const { return {now[count], last[count]}; }
    Widths width(std::uint32_t child) const {
        return {now[child + 1] - now[child], last[child + 1] - last[child]};
    }
    // Counts the children that begin behind the position. Sums are below 2^31, and a comparison
    // with a sign takes fewer instructions.
    static std::uint32_t child_at(const Sums& sums, std::uint32_t pos) {
        std::uint32_t behind = 0;
        for (std::uint32_t i = 0; i < kSums; ++i)
            behind += static_cast<std::int32_t>(sums[i]) > static_cast<std::int32_t>(pos) ? 1 : 0;
        return kSums - 1 - behind;
    }
    // Both sums in one loop: finding out which of them lie behind is half of the work. All bits are
    // set for those that do.
    void widen(std::uint32_t child, Widths by) {
        for (std::uint32_t i = 0; i < kSums; ++i) {
            const std::int32_t behind = static_cast<std::int32_t>(child - i) >> 31;
            now[i] += by.now & static_cast<std::uint32_t>(behind);
            last[i] += by.last & static_cast<std::uint32_t>(behind);
        }
    }
    void put(std::uint32_t at, Node* child) {
        children[at] = child;
        child->parent = this;
        child->slot = static_cast<std::uint16_t>(at);
    }
};

inline ItemTree::Widths widths_of(const ItemTree::Item& item) {
    return {item.visible_now(), item.visible_last()};
}

inline void add(ItemTree::Widths& to, const ItemTree::Widths& by) {
    to.now += by.now;
    to.last += by.last;
}

}  // namespace quire::crdt
