// ItemTree::check_invariants(): the promises of item_tree.h, one by one.
//
// Walks the leaves and, from each, the way up, so every sum is compared with what lies below it.
// Widths that wait in debt_ are not in the inner nodes yet. A set bit of `known` only says that an
// item may be there; a clear one is a promise. O(n · depth).
#include <algorithm>

#include "base/check.h"
#include "crdt/merge/item_tree.h"
#include "crdt/merge/item_tree_inner.h"

namespace quire::crdt {

void ItemTree::check_invariants() const {
    std::size_t items = 0;
    Widths sum;
    for (const Leaf* leaf = first_; leaf != nullptr; leaf = leaf->next) {
        Widths in_leaf;
        bool is_known = false;
        CHECK(leaf->is_leaf && (leaf->count > 0 || root_ == leaf));
        for (std::uint32_t i = 0; i < leaf->count; ++i) {
            const Item& item = leaf->items[i];
            CHECK(item.len > 0);
            is_known |= item.now > 0;
            add(in_leaf, widths_of(item));
            const Cursor found = find_atom(item.lv);
            CHECK(found.leaf == leaf && found.index == i && found.offset == 0);
            CHECK(item.now <= 1 || item.erased + 1 >= item.now);
        }
        items += leaf->count;
        add(sum, in_leaf);
        Widths below = in_leaf;
        if (leaf == debt_.leaf) {
            below.now -= debt_.by.now;
            below.last -= debt_.by.last;
        }
        const Node* child = leaf;
        std::uint32_t slot = leaf->slot;
        for (const Inner* inner = leaf->parent; inner != nullptr; inner = inner->parent) {
            CHECK(slot < inner->count && inner->children[slot] == child);
            CHECK(!inner->is_leaf && inner->count <= kInnerChildren);
            CHECK(inner->now[0] == 0 && inner->last[0] == 0);
            const Widths known = inner->width(slot);
            CHECK(known.now == below.now && known.last == below.last);
            CHECK(!is_known || (inner->known >> slot & 1) == 1);
            CHECK(inner->known >> inner->count == 0);
            for (std::uint32_t i = inner->count + 1; i < Inner::kSums; ++i)
                CHECK(inner->now[i] == inner->total().now && inner->last[i] == inner->total().last);
            below = inner->total();
            child = inner;
            slot = inner->slot;
        }
    }
    std::size_t indexed = 0;
    for (std::size_t i = 0; i < index_.size(); ++i) {
        const auto& [starts, leaves] = index_[i];
        CHECK(!starts.empty() && index_first_[i] == starts.front());
        CHECK(starts.size() == leaves.size() && std::is_sorted(starts.begin(), starts.end()));
        indexed += starts.size();
    }
    if (near_.leaf != nullptr) {
        const auto widths = [](const Leaf* leaf) {
            Widths sum_of;
            for (std::uint32_t i = 0; i < leaf->count; ++i) add(sum_of, widths_of(leaf->items[i]));
            return sum_of;
        };
        Widths before;
        for (const Leaf* leaf = first_; leaf != near_.leaf; leaf = leaf->next)
            add(before, widths(leaf));
        CHECK(near_.begin == before.*near_.metric);
        CHECK(near_.width == widths(near_.leaf).*near_.metric || near_.leaf == root_);
    }
    const Widths all = total();
    CHECK(items == count_ && indexed == count_ && all.now == sum.now && all.last == sum.last);
}

}  // namespace quire::crdt
