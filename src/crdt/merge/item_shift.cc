// ItemTree::Shift: the counts of many items, changed one after another.
//
// A move between versions changes runs of atoms in the order in which they were made, and those
// often lie side by side in the text, forwards or backwards. So the neighbours of the item that was
// changed last are tried before the index is searched.
#include <algorithm>

#include "crdt/merge/item_tree.h"

namespace quire::crdt {

ItemTree::Cursor ItemTree::Shift::find(Lv lv) const {
    if (last_.leaf == nullptr) return tree_.find_atom(lv);
    const std::uint32_t end = last_.leaf->count;
    for (const std::uint32_t index : {last_.index + 1, last_.index - 1}) {
        if (index >= end) continue;
        const Item& item = last_.leaf->items[index];
        if (lv - item.lv < item.len) return {last_.leaf, index, lv - item.lv};
    }
    return tree_.find_atom(lv);
}

// An item that reaches over an end of the range is split first: its atoms no longer fare alike.
void ItemTree::Shift::add(Lv lv, std::uint32_t len, std::int32_t by) {
    while (len > 0) {
        Cursor at = find(lv);
        const std::uint32_t n = std::min(len, item(at).len - at.offset);
        at = tree_.isolate(at, n);
        tree_.adjust(at, by, 0);
        last_ = at;
        lv += n;
        len -= n;
    }
}

}  // namespace quire::crdt
