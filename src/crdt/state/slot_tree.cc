// A B+tree whose inner nodes store two widths per child (slots, shown slots), so a position in
// either count is one walk down. leaves_ leads from an element to its leaf; walking up from there
// and adding what lies to the left gives the element's index without a search. Full leaves split in
// the middle; empty ones are removed, small ones are not joined.

#include "crdt/state/slot_tree.h"

#include <utility>

#include "base/check.h"

namespace quire::crdt {

struct SlotTree::Inner {
    Inner* parent = nullptr;
    std::uint32_t count = 0;
    bool over_leaves = true;
    // One more than allowed, so that the split follows the insertion.
    Widths widths[kChildren + 1];
    void* children[kChildren + 1];

    std::uint32_t slot_of(const void* child) const {
        std::uint32_t slot = 0;
        while (children[slot] != child) ++slot;
        return slot;
    }
    void adopt(std::uint32_t slot) {
        if (over_leaves) {
            static_cast<Leaf*>(children[slot])->parent = this;
        } else {
            static_cast<Inner*>(children[slot])->parent = this;
        }
    }
    void insert(std::uint32_t slot, void* child, const Widths& size) {
        for (std::uint32_t i = count; i > slot; --i) {
            children[i] = children[i - 1];
            widths[i] = widths[i - 1];
        }
        children[slot] = child;
        widths[slot] = size;
        ++count;
        adopt(slot);
    }
    void remove(std::uint32_t slot) {
        for (std::uint32_t i = slot + 1; i < count; ++i) {
            children[i - 1] = children[i];
            widths[i - 1] = widths[i];
        }
        --count;
    }
};

SlotTree::Widths SlotTree::Leaf::widths() const {
    Widths sum{count, 0};
    for (std::uint32_t i = 0; i < count; ++i) sum.shown += slots[i].is_shown() ? 1 : 0;
    return sum;
}

SlotTree::SlotTree(const SlotTree& other) : SlotTree() {
    other.for_each([&](const Slot& slot) { insert(size(), slot); });
}

SlotTree::SlotTree() : root_(new Leaf()), first_(static_cast<Leaf*>(root_)) {}

SlotTree::~SlotTree() {
    std::vector<Inner*> inners;
    if (!root_is_leaf_) inners.push_back(static_cast<Inner*>(root_));
    while (!inners.empty()) {
        Inner* inner = inners.back();
        inners.pop_back();
        for (std::uint32_t i = 0; i < inner->count && !inner->over_leaves; ++i)
            inners.push_back(static_cast<Inner*>(inner->children[i]));
        delete inner;
    }
    while (first_ != nullptr) delete std::exchange(first_, first_->next);
}

// --- finding ---

// One walk down, adding the widths to the left in the given count.
SlotTree::Place SlotTree::find(std::uint32_t at, std::uint32_t Widths::*metric) const {
    void* node = root_;
    bool is_leaf = root_is_leaf_;
    while (!is_leaf) {
        const auto* inner = static_cast<const Inner*>(node);
        std::uint32_t i = 0;
        while (at >= inner->widths[i].*metric) at -= inner->widths[i++].*metric;
        node = inner->children[i];
        is_leaf = inner->over_leaves;
    }
    auto* leaf = static_cast<Leaf*>(node);
    if (metric == &Widths::slots) return {leaf, at};
    std::uint32_t i = 0;
    for (;; ++i) {
        if (!leaf->slots[i].is_shown()) continue;
        if (at-- == 0) return {leaf, i};
    }
}

// Walks up from the leaf and adds everything to its left.
SlotTree::Widths SlotTree::before(const Place& place) const {
    Widths sum{place.index, 0};
    for (std::uint32_t i = 0; i < place.index; ++i)
        sum.shown += place.leaf->slots[i].is_shown() ? 1 : 0;
    const void* child = place.leaf;
    for (const Inner* inner = place.leaf->parent; inner != nullptr; inner = inner->parent) {
        for (std::uint32_t i = 0; inner->children[i] != child; ++i) {
            sum.slots += inner->widths[i].slots;
            sum.shown += inner->widths[i].shown;
        }
        child = inner;
    }
    return sum;
}

SlotTree::Slot SlotTree::at(std::uint32_t at) const {
    CHECK(at < total_.slots);
    const Place place = find(at, &Widths::slots);
    return place.leaf->slots[place.index];
}

SlotTree::Slot SlotTree::shown_at(std::uint32_t index) const {
    CHECK(index < total_.shown);
    const Place place = find(index, &Widths::shown);
    return place.leaf->slots[place.index];
}

std::uint32_t SlotTree::slot_index(std::uint32_t index) const {
    if (index >= total_.shown) return total_.slots;
    return before(find(index, &Widths::shown)).slots;
}

std::uint32_t SlotTree::shown_before(std::uint32_t at) const {
    if (at >= total_.slots) return total_.shown;
    return before(find(at, &Widths::slots)).shown;
}

std::uint32_t SlotTree::index_of(std::uint32_t element) const {
    const Leaf* leaf = leaves_[element];
    std::uint32_t i = 0;
    while (leaf->slots[i].element != element) ++i;
    return before({leaves_[element], i}).shown;
}

// --- changing ---

// Adds the difference at every level up to the root.
void SlotTree::widen(const Leaf* leaf, std::int32_t slots, std::int32_t shown) {
    const auto grow = [&](Widths& widths) {
        widths.slots = static_cast<std::uint32_t>(static_cast<std::int32_t>(widths.slots) + slots);
        widths.shown = static_cast<std::uint32_t>(static_cast<std::int32_t>(widths.shown) + shown);
    };
    grow(total_);
    const void* child = leaf;
    for (Inner* inner = leaf->parent; inner != nullptr; inner = inner->parent) {
        grow(inner->widths[inner->slot_of(child)]);
        child = inner;
    }
}

// Records which leaf shows the elements of the leaf's slots from `from` on.
void SlotTree::note(const Leaf* leaf, std::uint32_t from) {
    for (std::uint32_t i = from; i < leaf->count; ++i) {
        const std::uint32_t element = leaf->slots[i].element;
        if (element != kNone) leaves_[element] = const_cast<Leaf*>(leaf);
    }
}

// Splits the leaf first if it is full.
// The place is found by the slot before it, so that a slot at the end of a leaf goes into that leaf
// and not in front of the next one.
void SlotTree::insert(std::uint32_t at, Slot slot) {
    CHECK(at <= total_.slots);
    Place place{};
    if (at == 0) {
        place = {first_, 0};
    } else {
        place = find(at - 1, &Widths::slots);
        ++place.index;
    }
    if (place.leaf->count == kLeafSlots) {
        split(place.leaf);
        if (place.index > place.leaf->count) {
            place.index -= place.leaf->count;
            place.leaf = place.leaf->next;
        }
    }
    Leaf& leaf = *place.leaf;
    for (std::uint32_t i = leaf.count; i > place.index; --i) leaf.slots[i] = leaf.slots[i - 1];
    leaf.slots[place.index] = slot;
    ++leaf.count;
    widen(&leaf, 1, slot.is_shown() ? 1 : 0);
    if (!slot.is_shown()) return;
    if (slot.element >= leaves_.size()) leaves_.resize(slot.element + 1);
    CHECK(leaves_[slot.element] == nullptr);
    leaves_[slot.element] = &leaf;
}

// The element of a removed slot is shown nowhere, until a move shows it again.
SlotTree::Slot SlotTree::erase(std::uint32_t at) {
    CHECK(at < total_.slots);
    const Place place = find(at, &Widths::slots);
    Leaf& leaf = *place.leaf;
    const Slot slot = leaf.slots[place.index];
    for (std::uint32_t i = place.index + 1; i < leaf.count; ++i) leaf.slots[i - 1] = leaf.slots[i];
    --leaf.count;
    widen(&leaf, -1, slot.is_shown() ? -1 : 0);
    if (slot.is_shown()) leaves_[slot.element] = nullptr;
    if (leaf.count == 0) remove(&leaf);
    return slot;
}

// Finds the leaf by the element, so no position is needed.
void SlotTree::hide(std::uint32_t element) {
    CHECK(is_shown(element));
    Leaf* leaf = std::exchange(leaves_[element], nullptr);
    std::uint32_t i = 0;
    while (leaf->slots[i].element != element) ++i;
    leaf->slots[i].element = kNone;
    widen(leaf, 0, -1);
}

// Puts `right` beside `left`, which was split. Without a parent the root was split, and the tree
// grows by one level.
void SlotTree::add_child(Inner* parent, const void* left, Widths left_widths, void* right,
                         Widths right_widths) {
    if (parent == nullptr) {
        auto* root = new Inner();
        root->over_leaves = root_is_leaf_;
        root->insert(0, root_, left_widths);
        root->insert(1, right, right_widths);
        root_ = root;
        root_is_leaf_ = false;
        return;
    }
    const std::uint32_t slot = parent->slot_of(left);
    parent->widths[slot] = left_widths;
    parent->insert(slot + 1, right, right_widths);
    if (parent->count > kChildren) split(parent);
}

// Half of the slots go to a new leaf on the right, which is noted as their place.
void SlotTree::split(Leaf* leaf) {
    auto* right = new Leaf();
    right->previous = leaf;
    right->next = leaf->next;
    if (right->next != nullptr) right->next->previous = right;
    leaf->next = right;
    const std::uint32_t keep = (leaf->count + 1) / 2;
    for (std::uint32_t i = keep; i < leaf->count; ++i)
        right->slots[right->count++] = leaf->slots[i];
    leaf->count = keep;
    note(right, 0);
    add_child(leaf->parent, leaf, leaf->widths(), right, right->widths());
}

// The parent may be full and split in turn.
void SlotTree::split(Inner* inner) {
    auto* right = new Inner();
    right->over_leaves = inner->over_leaves;
    const std::uint32_t keep = (inner->count + 1) / 2;
    const auto add = [](Widths& to, const Widths& by) {
        to.slots += by.slots;
        to.shown += by.shown;
    };
    Widths left_widths;
    Widths right_widths;
    for (std::uint32_t i = 0; i < keep; ++i) add(left_widths, inner->widths[i]);
    for (std::uint32_t i = keep; i < inner->count; ++i) {
        right->insert(i - keep, inner->children[i], inner->widths[i]);
        add(right_widths, inner->widths[i]);
    }
    inner->count = keep;
    add_child(inner->parent, inner, left_widths, right, right_widths);
}

// Removes an empty leaf and the nodes that become empty with it; the last leaf of all stays.
void SlotTree::remove(Leaf* leaf) {
    if (leaf->parent == nullptr) return;
    if (leaf->next != nullptr) leaf->next->previous = leaf->previous;
    (leaf->previous != nullptr ? leaf->previous->next : first_) = leaf->next;
    Inner* inner = leaf->parent;
    inner->remove(inner->slot_of(leaf));
    delete leaf;
    while (inner->count == 0 && inner->parent != nullptr) {
        Inner* parent = inner->parent;
        parent->remove(parent->slot_of(inner));
        // An inner node without children goes too; the root stays, as the loop ends before it.
        delete std::exchange(inner, parent);
    }
    // A root with one child is replaced by the child.
    while (!root_is_leaf_ && static_cast<Inner*>(root_)->count == 1) {
        auto* root = static_cast<Inner*>(root_);
        root_ = root->children[0];
        root_is_leaf_ = root->over_leaves;
        if (root_is_leaf_) {
            static_cast<Leaf*>(root_)->parent = nullptr;
        } else {
            static_cast<Inner*>(root_)->parent = nullptr;
        }
        delete root;
    }
}

void SlotTree::check_invariants() const {
    Widths sum;
    const Leaf* previous = nullptr;
    for (const Leaf* leaf = first_; leaf != nullptr; leaf = leaf->next) {
        CHECK(leaf->previous == previous && (leaf->count > 0 || root_is_leaf_));
        const Widths here = leaf->widths();
        sum.slots += here.slots;
        sum.shown += here.shown;
        for (std::uint32_t i = 0; i < leaf->count; ++i) {
            const std::uint32_t element = leaf->slots[i].element;
            CHECK(element == kNone || leaves_[element] == leaf);
        }
        const void* child = leaf;
        Widths below = here;
        for (const Inner* inner = leaf->parent; inner != nullptr; inner = inner->parent) {
            CHECK(inner->count > 0 && inner->widths[inner->slot_of(child)] == below);
            below = {};
            for (std::uint32_t i = 0; i < inner->count; ++i) {
                below.slots += inner->widths[i].slots;
                below.shown += inner->widths[i].shown;
            }
            child = inner;
        }
        CHECK(child == root_);
        previous = leaf;
    }
    std::uint32_t shown = 0;
    for (const Leaf* leaf : leaves_) shown += leaf != nullptr ? 1 : 0;
    CHECK(sum == total_ && shown == total_.shown);
}

}  // namespace quire::crdt
