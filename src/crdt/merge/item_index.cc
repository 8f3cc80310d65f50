// ItemTree's index: which leaf holds an atom.
//
// The first atoms of all items lie sorted in pages, each with its leaf beside it. A lookup is two
// searches without branches, of the pages and inside of one, or none where no atom is missing. An
// item that moves to another leaf has its entry changed at once, so a lookup never follows a trail.
// O(log n) to look up and O(page) to insert.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "crdt/merge/item_tree.h"

namespace quire::crdt {

namespace {

// How many of the ascending numbers are not larger than `lv`. A branch here could not be predicted,
// so no step branches.
std::size_t count_up_to(const std::vector<Lv>& numbers, Lv lv) {
    std::size_t size = numbers.size();
    if (size == 0 || lv >= numbers.back()) return size;
    if (lv < numbers.front()) return 0;
    // No number is missing, so that nothing has to be searched.
    if (numbers.back() - numbers.front() == size - 1) return lv - numbers.front() + 1;
    const Lv* first = numbers.data();
    while (size > 1) {
        const std::size_t half = size / 2;
        first += first[half] <= lv ? half : 0;
        size -= half;
    }
    return static_cast<std::size_t>(first - numbers.data()) + 1;
}

}  // namespace

ItemTree::Cursor ItemTree::find_atom(Lv lv) const {
    const Page& page = index_[page_of(lv)];
    Leaf* leaf = page.leaves[count_up_to(page.starts, lv) - 1];
    std::uint32_t i = 0;
    while (lv - leaf->items[i].lv >= leaf->items[i].len) {
        ++i;
        CHECK(i < leaf->count);
    }
    return {leaf, i, lv - leaf->items[i].lv};
}

std::size_t ItemTree::page_of(Lv lv) const {
    // All pages are full where each atom is an item of its own and they came in order.
    const std::size_t guess = lv / kIndexPage;
    if (guess + 1 < index_first_.size() && index_first_[guess] <= lv &&
        lv < index_first_[guess + 1]) {
        return guess;
    }
    const std::size_t after = count_up_to(index_first_, lv);
    return after == 0 ? 0 : after - 1;
}

void ItemTree::index_insert(Lv lv, Leaf* leaf) {
    if (index_.empty()) {
        index_.push_back({{lv}, {leaf}});
        index_first_.push_back(lv);
        return;
    }
    const std::size_t number = page_of(lv);
    auto& [starts, leaves] = index_[number];
    const auto at = static_cast<std::ptrdiff_t>(count_up_to(starts, lv));
    starts.insert(starts.begin() + at, lv);
    leaves.insert(leaves.begin() + at, leaf);
    index_first_[number] = starts.front();
    if (starts.size() > kIndexPage) {
        // Atoms mostly come in order: then the old page stays full.
        const std::size_t keep = starts.back() == lv ? starts.size() - 1 : starts.size() / 2;
        const auto from = static_cast<std::ptrdiff_t>(keep);
        Page upper{{starts.begin() + from, starts.end()}, {leaves.begin() + from, leaves.end()}};
        starts.resize(keep);
        leaves.resize(keep);
        const auto next = static_cast<std::ptrdiff_t>(number) + 1;
        index_first_.insert(index_first_.begin() + next, upper.starts.front());
        index_.insert(index_.begin() + next, std::move(upper));
    }
}

// The items of a leaf mostly lie in few pages, and often side by side there as well.
void ItemTree::index_move(Leaf* leaf) {
    std::size_t number = 0;
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < leaf->count; ++i) {
        const Lv lv = leaf->items[i].lv;
        const bool same_page = i > 0 && lv >= index_first_[number] &&
                               (number + 1 == index_first_.size() || lv < index_first_[number + 1]);
        if (!same_page) number = page_of(lv);
        Page& page = index_[number];
        const bool is_next = same_page && at + 1 < page.starts.size() && page.starts[at + 1] == lv;
        at = is_next ? at + 1 : count_up_to(page.starts, lv) - 1;
        page.leaves[at] = leaf;
    }
}

}  // namespace quire::crdt
