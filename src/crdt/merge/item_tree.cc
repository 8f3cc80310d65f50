// The tree counts every position twice, in the version of the merge and in the newest one, so
// each operation here keeps two sums per child. Searching, inserting and adjusting walk one path:
// O(log n) nodes, with a fixed amount of branch-free work in each. Three measures make the
// constant small: nodes hold prefix sums, which one vector comparison searches; the last leaf
// found is remembered, because positions of a merge lie close together; and the index from atoms
// to leaves is a sorted array in pages, which is denser in memory than a tree. Nodes are
// allocated singly, and destroy() frees them without recursion.
#include "crdt/merge/item_tree.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "crdt/merge/item_tree_inner.h"

namespace quire::crdt {

ItemTree::Inner* ItemTree::as_inner(Node* node) {
    return static_cast<Inner*>(node);
}

ItemTree::ItemTree() : root_(new Leaf()), first_(as_leaf(root_)) {}

ItemTree::ItemTree(const ItemTree& other)
    : count_(other.count_), index_(other.index_), index_first_(other.index_first_) {
    other.settle();
    Leaf** last = &first_;
    root_ = copy_below(other.root_, last);
    for (Page& page : index_) {
        for (Leaf*& leaf : page.leaves) leaf = leaf->copy;
    }
}

// Copies a node and all below it. `last` is where the next leaf belongs.
ItemTree::Node* ItemTree::copy_below(const Node* node, Leaf**& last) {
    if (node->is_leaf) {
        const auto* from = static_cast<const Leaf*>(node);
        auto* leaf = new Leaf();
        leaf->count = from->count;
        std::copy(from->items, from->items + from->count, leaf->items);
        const_cast<Leaf*>(from)->copy = leaf;
        *last = leaf;
        last = &leaf->next;
        return leaf;
    }
    const auto* from = static_cast<const Inner*>(node);
    auto* inner = new Inner();
    inner->count = from->count;
    std::copy(from->now, from->now + Inner::kSums, inner->now);
    std::copy(from->last, from->last + Inner::kSums, inner->last);
    inner->known = from->known;
    for (std::uint32_t i = 0; i < from->count; ++i)
        inner->put(i, copy_below(from->children[i], last));
    return inner;
}

ItemTree::ItemTree(ItemTree&& other) noexcept
    : root_(std::exchange(other.root_, nullptr)),
      first_(other.first_),
      count_(other.count_),
      near_(std::exchange(other.near_, {})),
      debt_(std::exchange(other.debt_, {})),
      index_(std::move(other.index_)),
      index_first_(std::move(other.index_first_)) {}

ItemTree& ItemTree::operator=(ItemTree&& other) noexcept {
    std::swap(root_, other.root_);
    std::swap(first_, other.first_);
    std::swap(count_, other.count_);
    std::swap(near_, other.near_);
    std::swap(debt_, other.debt_);
    std::swap(index_, other.index_);
    std::swap(index_first_, other.index_first_);
    return *this;
}

ItemTree::~ItemTree() {
    destroy();
}

void ItemTree::destroy() {
    if (root_ == nullptr) return;
    std::vector<Inner*> inners;
    if (!root_->is_leaf) inners.push_back(as_inner(root_));
    while (!inners.empty()) {
        Inner* node = inners.back();
        inners.pop_back();
        for (std::uint32_t i = 0; i < node->count && !node->children[0]->is_leaf; ++i)
            inners.push_back(as_inner(node->children[i]));
        delete node;
    }
    while (first_ != nullptr) delete std::exchange(first_, first_->next);
    root_ = nullptr;
}

ItemTree::Widths ItemTree::total() const {
    Widths total;
    if (!root_->is_leaf) {
        total = as_inner(root_)->total();
        add(total, debt_.by);
        return total;
    }
    for (std::uint32_t i = 0; i < root_->count; ++i)
        add(total, widths_of(as_leaf(root_)->items[i]));
    return total;
}

namespace {

// Returns the atom number `pos` of the visible ones in a leaf. The processor could not predict if
// an item is visible, so only the end of the search branches.
template <class IsVisible>
ItemTree::Cursor find_in(ItemTree::Leaf* leaf, std::uint32_t pos, IsVisible is_visible) {
    for (std::uint32_t i = 0;; ++i) {
        const ItemTree::Item& item = leaf->items[i];
        const std::uint32_t width = item.len & (0U - static_cast<std::uint32_t>(is_visible(item)));
        if (pos < width) return {leaf, i, pos};
        pos -= width;
    }
}

}  // namespace

ItemTree::Cursor ItemTree::find(std::uint32_t pos, std::uint32_t Widths::*metric) const {
    const bool now = metric == &Widths::now;
    const auto in_leaf = [now](Leaf* leaf, std::uint32_t offset) {
        return now ? find_in(leaf, offset, [](const Item& item) { return item.now == 1; })
                   : find_in(leaf, offset, [](const Item& item) { return item.erased == 0; });
    };
    if (near_.metric == metric && pos - near_.begin < near_.width)
        return in_leaf(near_.leaf, pos - near_.begin);
    settle();
    Node* node = root_;
    std::uint32_t offset = pos;
    std::uint32_t width = 0;
    while (!node->is_leaf) {
        const Inner::Sums& sums = now ? as_inner(node)->now : as_inner(node)->last;
        const std::uint32_t child = Inner::child_at(sums, offset);
        offset -= sums[child];
        width = sums[child + 1] - sums[child];
        node = as_inner(node)->children[child];
    }
    near_ = {as_leaf(node), metric, pos - offset, width};
    return in_leaf(as_leaf(node), offset);
}

ItemTree::Cursor ItemTree::find_now(std::uint32_t pos) const {
    return find(pos, &Widths::now);
}
ItemTree::Cursor ItemTree::find_last(std::uint32_t pos) const {
    return find(pos, &Widths::last);
}

// The bits on the way up, as far as they are not set.
void ItemTree::set_known(Node* node) {
    for (Inner* above = node->parent; above != nullptr; above = node->parent) {
        const std::uint32_t bit = 1U << node->slot;
        if ((above->known & bit) != 0) return;
        above->known |= bit;
        node = above;
    }
}

// The first known item below a node.
bool ItemTree::first_known(Node* node, Cursor& at) {
    if (node->is_leaf) {
        Leaf* leaf = as_leaf(node);
        for (std::uint32_t i = 0; i < leaf->count; ++i) {
            if (leaf->items[i].now == 0) continue;
            at = {leaf, i, 0};
            return true;
        }
        return false;
    }
    Inner* inner = as_inner(node);
    while (inner->known != 0) {
        const int child = std::countr_zero(inner->known);
        if (first_known(inner->children[child], at)) return true;
        inner->known &= inner->known - 1;
    }
    return false;
}

bool ItemTree::next_known(Cursor& at) {
    for (std::uint32_t i = at.index + 1; i < at.leaf->count; ++i) {
        if (at.leaf->items[i].now == 0) continue;
        at = {at.leaf, i, 0};
        return true;
    }
    std::uint32_t slot = at.leaf->slot;
    for (Inner* above = at.leaf->parent; above != nullptr; above = above->parent) {
        std::uint32_t behind = above->known & ~((2U << slot) - 1);
        for (; behind != 0; behind &= behind - 1) {
            const int child = std::countr_zero(behind);
            if (first_known(above->children[child], at)) return true;
            above->known &= ~(1U << child);
        }
        slot = above->slot;
    }
    return false;
}

std::uint32_t ItemTree::last_before(const Cursor& at) const {
    std::uint32_t sum = at.leaf->items[at.index].erased == 0 ? at.offset : 0;
    for (std::uint32_t i = 0; i < at.index; ++i) sum += at.leaf->items[i].visible_last();
    if (at.leaf == near_.leaf && near_.metric == &Widths::last) return sum + near_.begin;
    if (at.leaf != debt_.leaf) settle();
    std::uint32_t child = at.leaf->slot;
    for (const Inner* inner = at.leaf->parent; inner != nullptr; inner = inner->parent) {
        sum += inner->last[child];
        child = inner->slot;
    }
    return sum;
}

bool ItemTree::before(const Cursor& a, const Cursor& b) const {
    if (a.leaf == b.leaf) return a.index != b.index ? a.index < b.index : a.offset < b.offset;
    std::uint32_t from_a = a.leaf->slot;
    std::uint32_t from_b = b.leaf->slot;
    const Inner* up_a = a.leaf->parent;
    const Inner* up_b = b.leaf->parent;
    while (up_a != up_b) {
        from_a = up_a->slot;
        from_b = up_b->slot;
        up_a = up_a->parent;
        up_b = up_b->parent;
    }
    return from_a < from_b;
}

void ItemTree::widen(Leaf* leaf, std::int64_t now, std::int64_t last) {
    // Counts wrap around, so that a negative one is taken off.
    const Widths by{static_cast<std::uint32_t>(now), static_cast<std::uint32_t>(last)};
    if (leaf == near_.leaf) {
        near_.width += by.*near_.metric;
    } else {
        near_ = {};
    }
    if (leaf != debt_.leaf) {
        settle();
        debt_.leaf = leaf;
    }
    add(debt_.by, by);
}

void ItemTree::settle() const {
    if (debt_.leaf == nullptr) return;
    std::uint32_t child = debt_.leaf->slot;
    for (Inner* inner = debt_.leaf->parent; inner != nullptr; inner = inner->parent) {
        inner->widen(child, debt_.by);
        child = inner->slot;
    }
    debt_ = {};
}

// Makes room for `right`, which was split off from the end of `left`.
void ItemTree::add_child(Node* left, Widths left_widths, Node* right, Widths right_widths) {
    Inner* parent = left->parent;
    if (parent == nullptr) {
        parent = new Inner();
        parent->now[1] = left_widths.now + right_widths.now;
        parent->last[1] = left_widths.last + right_widths.last;
        parent->end_at(1);
        parent->known = 1;
        parent->put(0, root_);
        root_ = parent;
    }
    const std::uint32_t slot = left->slot;
    for (std::uint32_t i = parent->count; i > slot; --i) {
        parent->now[i + 1] = parent->now[i];
        parent->last[i + 1] = parent->last[i];
        if (i > slot + 1) parent->put(i, parent->children[i - 1]);
    }
    parent->now[slot + 1] = parent->now[slot] + left_widths.now;
    parent->last[slot + 1] = parent->last[slot] + left_widths.last;
    ++parent->count;
    parent->put(slot + 1, right);
    // Both parts may know what the whole knew.
    const std::uint32_t below = parent->known & ((2U << slot) - 1);
    parent->known = below | (parent->known & (1U << slot)) << 1 | (parent->known - below) << 1;
    if (parent->count > kInnerChildren) split_inner(parent);
}

void ItemTree::split_inner(Inner* inner) {
    auto* right = new Inner();
    const std::uint32_t keep = (inner->count + 1) / 2;
    const std::uint32_t moved = inner->count - keep;
    for (std::uint32_t i = 0; i < moved; ++i) {
        right->put(i, inner->children[keep + i]);
        right->now[i + 1] = inner->now[keep + i + 1] - inner->now[keep];
        right->last[i + 1] = inner->last[keep + i + 1] - inner->last[keep];
    }
    right->end_at(moved);
    inner->end_at(keep);
    right->known = inner->known >> keep;
    inner->known &= (1U << keep) - 1;
    add_child(inner, inner->total(), right, right->total());
}

void ItemTree::split_leaf(Leaf* leaf) {
    if (leaf == near_.leaf) near_ = {};
    settle();
    auto* right = new Leaf();
    right->next = leaf->next;
    leaf->next = right;
    const std::uint32_t keep = (leaf->count + 1) / 2;
    Widths left_widths;
    Widths right_widths;
    for (std::uint32_t i = 0; i < keep; ++i) add(left_widths, widths_of(leaf->items[i]));
    for (std::uint32_t i = keep; i < leaf->count; ++i) {
        right->items[right->count++] = leaf->items[i];
        add(right_widths, widths_of(leaf->items[i]));
    }
    leaf->count = keep;
    index_move(right);
    add_child(leaf, left_widths, right, right_widths);
}

// Puts the item at its index, moving the rest up.
ItemTree::Cursor ItemTree::place(Cursor at, const Item& item) {
    if (at.leaf->count == kLeafItems) {
        split_leaf(at.leaf);
        if (at.index > at.leaf->count) {
            at.index -= at.leaf->count;
            at.leaf = at.leaf->next;
        }
    }
    at.leaf->put(at.index, item);
    ++count_;
    index_insert(item.lv, at.leaf);
    widen(at.leaf, item.visible_now(), item.visible_last());
    if (item.now > 0) set_known(at.leaf);
    return {at.leaf, at.index, 0};
}

ItemTree::Cursor ItemTree::insert(Cursor at, const Item& item, bool join) {
    if (at.leaf->count == 0 || at.offset == 0) return place(at, item);
    Item& here = at.leaf->items[at.index];
    if (at.offset == here.len) {
        if (join && here.end() == item.lv && item.left + 1 == item.lv && here.right == item.right &&
            here.now == item.now && here.erased == item.erased) {
            here.len += item.len;
            widen(at.leaf, item.visible_now(), item.visible_last());
            return at;
        }
        ++at.index;
        return place(at, item);
    }
    return place(isolate(at, here.len - at.offset), item);
}

ItemTree::Cursor ItemTree::isolate(Cursor at, std::uint32_t len) {
    // Makes the atoms from number `keep` on an item behind the rest. What is visible stays so.
    const auto cut = [&](std::uint32_t keep) {
        if (at.leaf->count == kLeafItems) {
            split_leaf(at.leaf);
            if (at.index >= at.leaf->count) {
                at.index -= at.leaf->count;
                at.leaf = at.leaf->next;
            }
        }
        Item& here = at.leaf->items[at.index];
        Item rest = here;
        rest.lv += keep;
        rest.len -= keep;
        rest.left = rest.lv - 1;
        here.len = keep;
        at.leaf->put(at.index + 1, rest);
        ++count_;
        index_insert(rest.lv, at.leaf);
    };
    if (at.offset > 0) {
        cut(at.offset);
        ++at.index;
        at.offset = 0;
    }
    if (len < at.leaf->items[at.index].len) cut(len);
    return at;
}

void ItemTree::adjust(const Cursor& at, std::int32_t now, std::int32_t erased) {
    Item& item = at.leaf->items[at.index];
    const Widths before = widths_of(item);
    if (item.now == 0 && now > 0) set_known(at.leaf);
    item.now += static_cast<std::uint32_t>(now);
    item.erased += static_cast<std::uint32_t>(erased);
    const Widths after = widths_of(item);
    if (before.now != after.now || before.last != after.last) {
        widen(at.leaf, std::int64_t{after.now} - before.now,
              std::int64_t{after.last} - before.last);
    }
}

void ItemTree::adjust_all(Function<std::int32_t(const Item&)> by) {
    near_ = {};
    debt_ = {};
    adjust_below(root_, by);
}

ItemTree::Widths ItemTree::adjust_below(Node* node, Function<std::int32_t(const Item&)>& by) {
    Widths total;
    if (node->is_leaf) {
        for (std::uint32_t i = 0; i < node->count; ++i) {
            Item& item = as_leaf(node)->items[i];
            item.now = static_cast<std::uint32_t>(static_cast<std::int32_t>(item.now) + by(item));
            add(total, widths_of(item));
        }
        return total;
    }
    Inner* above = as_inner(node);
    above->known = (1U << above->count) - 1;
    for (std::uint32_t i = 0; i < above->count; ++i) {
        add(total, adjust_below(above->children[i], by));
        above->now[i + 1] = total.now;
        above->last[i + 1] = total.last;
    }
    above->end_at(above->count);
    return total;
}

}  // namespace quire::crdt
