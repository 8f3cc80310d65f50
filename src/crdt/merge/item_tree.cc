#include "crdt/merge/item_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace quire::crdt {

struct ItemTree::Leaf {
    Inner* parent = nullptr;
    Leaf* next = nullptr;
    std::uint32_t count = 0;
    Item items[kLeafItems];
};

struct ItemTree::Inner {
    Inner* parent = nullptr;
    std::uint32_t count = 0;
    bool over_leaves = true;
    // One more than may stay, so that a split follows the insertion.
    Widths widths[kInnerChildren + 1];
    void* children[kInnerChildren + 1];

    std::uint32_t slot_of(const void* child) const {
        std::uint32_t slot = 0;
        while (children[slot] != child) ++slot;
        return slot;
    }
    void adopt(std::uint32_t slot) const {
        Inner* self = const_cast<Inner*>(this);
        if (over_leaves) {
            static_cast<Leaf*>(children[slot])->parent = self;
        } else {
            static_cast<Inner*>(children[slot])->parent = self;
        }
    }
};

namespace {

ItemTree::Widths widths_of(const ItemTree::Item& item) {
    return {item.visible_now(), item.visible_last()};
}

void add(ItemTree::Widths& to, const ItemTree::Widths& by) {
    to.now += by.now;
    to.last += by.last;
}

}  // namespace

ItemTree::ItemTree() : root_(new Leaf()), first_(static_cast<Leaf*>(root_)) {}

ItemTree::ItemTree(ItemTree&& other) noexcept
    : root_(std::exchange(other.root_, nullptr)),
      root_is_leaf_(other.root_is_leaf_),
      first_(other.first_),
      count_(other.count_),
      index_(std::move(other.index_)),
      index_first_(std::move(other.index_first_)) {}

ItemTree& ItemTree::operator=(ItemTree&& other) noexcept {
    std::swap(root_, other.root_);
    std::swap(root_is_leaf_, other.root_is_leaf_);
    std::swap(first_, other.first_);
    std::swap(count_, other.count_);
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
    if (!root_is_leaf_) inners.push_back(static_cast<Inner*>(root_));
    while (!inners.empty()) {
        Inner* inner = inners.back();
        inners.pop_back();
        for (std::uint32_t i = 0; i < inner->count && !inner->over_leaves; ++i) {
            inners.push_back(static_cast<Inner*>(inner->children[i]));
        }
        delete inner;
    }
    while (first_ != nullptr) delete std::exchange(first_, first_->next);
    root_ = nullptr;
}

ItemTree::Widths ItemTree::total() const {
    Widths total;
    if (root_is_leaf_) {
        const auto* leaf = static_cast<const Leaf*>(root_);
        for (std::uint32_t i = 0; i < leaf->count; ++i) add(total, widths_of(leaf->items[i]));
    } else {
        const auto* inner = static_cast<const Inner*>(root_);
        for (std::uint32_t i = 0; i < inner->count; ++i) add(total, inner->widths[i]);
    }
    return total;
}

const ItemTree::Item& ItemTree::item(const Cursor& at) const {
    return at.leaf->items[at.index];
}

ItemTree::Cursor ItemTree::find(std::uint32_t pos, std::uint32_t Widths::*metric) const {
    void* node = root_;
    bool is_leaf = root_is_leaf_;
    while (!is_leaf) {
        const auto* inner = static_cast<const Inner*>(node);
        std::uint32_t i = 0;
        while (pos >= inner->widths[i].*metric) pos -= inner->widths[i++].*metric;
        node = inner->children[i];
        is_leaf = inner->over_leaves;
    }
    auto* leaf = static_cast<Leaf*>(node);
    std::uint32_t i = 0;
    for (;; ++i) {
        const std::uint32_t width = widths_of(leaf->items[i]).*metric;
        if (pos < width) break;
        pos -= width;
    }
    return {leaf, i, pos};
}

ItemTree::Cursor ItemTree::find_now(std::uint32_t pos) const {
    return find(pos, &Widths::now);
}
ItemTree::Cursor ItemTree::find_last(std::uint32_t pos) const {
    return find(pos, &Widths::last);
}

ItemTree::Cursor ItemTree::find_atom(Lv lv) const {
    const Page& page = index_[page_of(lv)];
    Leaf* leaf = page[after_in(page, lv) - 1].leaf;
    std::uint32_t i = 0;
    while (lv - leaf->items[i].lv >= leaf->items[i].len) {
        ++i;
        CHECK(i < leaf->count);
    }
    return {leaf, i, lv - leaf->items[i].lv};
}

ItemTree::Cursor ItemTree::begin() const {
    return {first_, 0, 0};
}

bool ItemTree::next(Cursor& at) const {
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

std::uint32_t ItemTree::last_before(const Cursor& at) const {
    std::uint32_t sum = at.leaf->items[at.index].erased == 0 ? at.offset : 0;
    for (std::uint32_t i = 0; i < at.index; ++i) sum += at.leaf->items[i].visible_last();
    const void* child = at.leaf;
    for (const Inner* inner = at.leaf->parent; inner != nullptr; inner = inner->parent) {
        for (std::uint32_t i = 0; inner->children[i] != child; ++i) sum += inner->widths[i].last;
        child = inner;
    }
    return sum;
}

bool ItemTree::before(const Cursor& a, const Cursor& b) const {
    if (a.leaf == b.leaf) return a.index != b.index ? a.index < b.index : a.offset < b.offset;
    const void* from_a = a.leaf;
    const void* from_b = b.leaf;
    const Inner* up_a = a.leaf->parent;
    const Inner* up_b = b.leaf->parent;
    while (up_a != up_b) {
        from_a = up_a;
        from_b = up_b;
        up_a = up_a->parent;
        up_b = up_b->parent;
    }
    return up_a->slot_of(from_a) < up_a->slot_of(from_b);
}

// --- changing ---

void ItemTree::widen(Leaf* leaf, std::int64_t now, std::int64_t last) {
    const void* child = leaf;
    for (Inner* inner = leaf->parent; inner != nullptr; inner = inner->parent) {
        Widths& widths = inner->widths[inner->slot_of(child)];
        widths.now = static_cast<std::uint32_t>(widths.now + now);
        widths.last = static_cast<std::uint32_t>(widths.last + last);
        child = inner;
    }
}

void ItemTree::add_child(Inner* parent, const void* left, Widths left_widths, void* right,
                         Widths right_widths) {
    if (parent == nullptr) {
        auto* root = new Inner();
        root->over_leaves = root_is_leaf_;
        root->count = 2;
        root->children[0] = root_;
        root->children[1] = right;
        root->widths[0] = left_widths;
        root->widths[1] = right_widths;
        root->adopt(0);
        root->adopt(1);
        root_ = root;
        root_is_leaf_ = false;
        return;
    }
    const std::uint32_t slot = parent->slot_of(left);
    for (std::uint32_t i = parent->count; i > slot + 1; --i) {
        parent->children[i] = parent->children[i - 1];
        parent->widths[i] = parent->widths[i - 1];
    }
    parent->widths[slot] = left_widths;
    parent->children[slot + 1] = right;
    parent->widths[slot + 1] = right_widths;
    ++parent->count;
    parent->adopt(slot + 1);
    if (parent->count > kInnerChildren) split_inner(parent);
}

void ItemTree::split_inner(Inner* inner) {
    auto* right = new Inner();
    right->over_leaves = inner->over_leaves;
    const std::uint32_t keep = (inner->count + 1) / 2;
    Widths left_widths;
    Widths right_widths;
    for (std::uint32_t i = 0; i < keep; ++i) add(left_widths, inner->widths[i]);
    for (std::uint32_t i = keep; i < inner->count; ++i) {
        right->children[right->count] = inner->children[i];
        right->widths[right->count] = inner->widths[i];
        right->adopt(right->count);
        add(right_widths, inner->widths[i]);
        ++right->count;
    }
    inner->count = keep;
    add_child(inner->parent, inner, left_widths, right, right_widths);
}

void ItemTree::split_leaf(Leaf* leaf) {
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
        index_move(leaf->items[i].lv, right);
    }
    leaf->count = keep;
    add_child(leaf->parent, leaf, left_widths, right, right_widths);
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
    Leaf* leaf = at.leaf;
    for (std::uint32_t i = leaf->count; i > at.index; --i) leaf->items[i] = leaf->items[i - 1];
    leaf->items[at.index] = item;
    ++leaf->count;
    ++count_;
    widen(leaf, item.visible_now(), item.visible_last());
    index_insert(item.lv, leaf);
    return {leaf, at.index, 0};
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
    const auto cut = [&](std::uint32_t keep) {
        Item& here = at.leaf->items[at.index];
        Item rest = here;
        rest.lv += keep;
        rest.len -= keep;
        rest.left = rest.lv - 1;
        const Widths before = widths_of(here);
        here.len = keep;
        const Widths after = widths_of(here);
        widen(at.leaf, std::int64_t{after.now} - before.now,
              std::int64_t{after.last} - before.last);
        return place({at.leaf, at.index + 1, 0}, rest);
    };
    if (at.offset > 0) at = cut(at.offset);
    if (len < at.leaf->items[at.index].len) {
        cut(len);
        if (at.index >= at.leaf->count) {
            at.index -= at.leaf->count;
            at.leaf = at.leaf->next;
        }
    }
    return at;
}

void ItemTree::adjust(const Cursor& at, std::int32_t now, std::int32_t erased) {
    Item& item = at.leaf->items[at.index];
    const Widths before = widths_of(item);
    item.now = static_cast<std::uint32_t>(static_cast<std::int32_t>(item.now) + now);
    item.erased = static_cast<std::uint32_t>(static_cast<std::int32_t>(item.erased) + erased);
    const Widths after = widths_of(item);
    if (before.now != after.now || before.last != after.last) {
        widen(at.leaf, std::int64_t{after.now} - before.now,
              std::int64_t{after.last} - before.last);
    }
}

void ItemTree::adjust_all(Function<std::int32_t(const Item&)> by) {
    adjust_below(root_, root_is_leaf_, by);
}

ItemTree::Widths ItemTree::adjust_below(void* node, bool is_leaf,
                                        Function<std::int32_t(const Item&)>& by) {
    Widths total;
    if (is_leaf) {
        auto* leaf = static_cast<Leaf*>(node);
        for (std::uint32_t i = 0; i < leaf->count; ++i) {
            Item& item = leaf->items[i];
            item.now = static_cast<std::uint32_t>(static_cast<std::int32_t>(item.now) + by(item));
            add(total, widths_of(item));
        }
        return total;
    }
    auto* inner = static_cast<Inner*>(node);
    for (std::uint32_t i = 0; i < inner->count; ++i) {
        inner->widths[i] = adjust_below(inner->children[i], inner->over_leaves, by);
        add(total, inner->widths[i]);
    }
    return total;
}

// --- the index ---

namespace {

// The first of `size` ascending numbers that is larger than `lv`. Atoms mostly come one by one, so
// a guess at where they stand is a good one; searching goes on from there.
template <class LvAt>
std::size_t first_after(std::size_t size, Lv lv, const LvAt& lv_at) {
    std::size_t low = 0;      // All before are not larger.
    std::size_t high = size;  // All from here on are.
    if (size > 0 && lv >= lv_at(size - 1)) return size;
    for (bool guess = size > 8; low < high;) {
        std::size_t at = low + (high - low) / 2;
        if (guess) {
            guess = false;
            const Lv first = lv_at(0);
            if (lv < first) return 0;
            // Between the first and the last: no division by zero.
            at = static_cast<std::size_t>(std::uint64_t{lv - first} * (size - 1) /
                                          (lv_at(size - 1) - first));
            // Gallop from the guess to where the search is short.
            std::size_t step = 1;
            if (lv_at(at) <= lv) {
                while (at < size && lv_at(at) <= lv) {
                    low = at + 1;
                    at += step;
                    step *= 2;
                }
                high = std::min(at, size);
            } else {
                while (lv_at(at) > lv) {
                    high = at;
                    if (at < step) break;
                    at -= step;
                    step *= 2;
                }
                low = lv_at(at) <= lv ? at + 1 : 0;
            }
            continue;
        }
        if (lv_at(at) <= lv) {
            low = at + 1;
        } else {
            high = at;
        }
    }
    return low;
}

}  // namespace

std::size_t ItemTree::page_of(Lv lv) const {
    const std::size_t after =
        first_after(index_first_.size(), lv, [&](std::size_t i) { return index_first_[i]; });
    return after == 0 ? 0 : after - 1;
}

std::size_t ItemTree::after_in(const Page& page, Lv lv) {
    return first_after(page.size(), lv, [&](std::size_t i) { return page[i].lv; });
}

void ItemTree::index_insert(Lv lv, Leaf* leaf) {
    if (index_.empty()) {
        index_.push_back({{lv, leaf}});
        index_first_.push_back(lv);
        return;
    }
    const std::size_t number = page_of(lv);
    Page& page = index_[number];
    page.insert(page.begin() + static_cast<std::ptrdiff_t>(after_in(page, lv)), {lv, leaf});
    index_first_[number] = page.front().lv;
    if (page.size() > kIndexPage) {
        // Atoms mostly come in order: then the old page stays full.
        const std::size_t keep = page.back().lv == lv ? page.size() - 1 : page.size() / 2;
        Page upper(page.begin() + static_cast<std::ptrdiff_t>(keep), page.end());
        page.resize(keep);
        index_first_.insert(index_first_.begin() + static_cast<std::ptrdiff_t>(number) + 1,
                            upper.front().lv);
        index_.insert(index_.begin() + static_cast<std::ptrdiff_t>(number) + 1, std::move(upper));
    }
}

void ItemTree::index_move(Lv lv, Leaf* leaf) {
    Page& page = index_[page_of(lv)];
    page[after_in(page, lv) - 1].leaf = leaf;
}

void ItemTree::check_invariants() const {
    std::size_t items = 0;
    Widths sum;
    for (const Leaf* leaf = first_; leaf != nullptr; leaf = leaf->next) {
        Widths in_leaf;
        CHECK(leaf->count > 0 || root_is_leaf_);
        for (std::uint32_t i = 0; i < leaf->count; ++i) {
            const Item& item = leaf->items[i];
            CHECK(item.len > 0);
            add(in_leaf, widths_of(item));
            const Cursor found = find_atom(item.lv);
            CHECK(found.leaf == leaf && found.index == i && found.offset == 0);
            CHECK(item.now <= 1 || item.erased + 1 >= item.now);
        }
        items += leaf->count;
        add(sum, in_leaf);
        if (leaf->parent != nullptr) {
            const Widths& known = leaf->parent->widths[leaf->parent->slot_of(leaf)];
            CHECK(known.now == in_leaf.now && known.last == in_leaf.last);
            CHECK(leaf->parent->over_leaves);
        }
        for (const Inner* inner = leaf->parent; inner != nullptr && inner->parent != nullptr;
             inner = inner->parent) {
            Widths below;
            for (std::uint32_t i = 0; i < inner->count; ++i) add(below, inner->widths[i]);
            const Widths& known = inner->parent->widths[inner->parent->slot_of(inner)];
            CHECK(known.now == below.now && known.last == below.last &&
                  !inner->parent->over_leaves);
        }
    }
    std::size_t indexed = 0;
    for (std::size_t i = 0; i < index_.size(); ++i) {
        CHECK(!index_[i].empty() && index_first_[i] == index_[i].front().lv);
        indexed += index_[i].size();
    }
    const Widths all = total();
    CHECK(items == count_ && indexed == count_ && all.now == sum.now && all.last == sum.last);
}

}  // namespace quire::crdt
