// Siblings: the ordered and counted children of each node of a tree.
//
// One weight-balanced tree per parent (Hirai & Yamamoto, "Balancing weight-balanced trees", 2011),
// its links stored by node number, so a node costs 20 bytes and no allocation of its own. The caller
// defines the order, which must not change while a node is in. Other peers choose numbers and order,
// so the balance does not rest on chance.
//
// Links are indexes into one vector and refer both ways, so a position is found by a walk down from
// the parent's top, and an index by a walk up from the node.
#pragma once

#include <vector>

#include "crdt/ids/placement.h"

namespace quire::crdt {

// The orders of all nodes of one tree.
class Siblings {
public:
    // Allows nodes with numbers below `count`.
    void make_room(std::size_t count);

    // Inserts a node that is in no order yet among the children of `parent`. `before(a, b)` is true
    // if `a` comes before `b`. This and the following are O(log n).
    template <class Before>
    void insert(NodeIndex parent, NodeIndex node, Before before) {
        if (ends_.parent != parent && count(parent) >= kMany) ends_ = {parent, kNowhere, kNowhere};
        const bool has_ends = ends_.parent == parent;
        bool is_first = has_ends;
        bool is_last = has_ends;
        NodeIndex up = kNowhere;
        NodeIndex* slot = &links_[parent].top;
        if (has_ends && ends_.last != kNowhere && !before(node, ends_.last)) {
            up = ends_.last;
            slot = &links_[up].right;
            is_first = false;
        } else if (has_ends && ends_.first != kNowhere && before(node, ends_.first)) {
            up = ends_.first;
            slot = &links_[up].left;
            is_last = false;
        }
        while (*slot != kNowhere) {
            up = *slot;
            const bool is_before = before(node, up);
            slot = is_before ? &links_[up].left : &links_[up].right;
            (is_before ? is_last : is_first) = false;
        }
        *slot = node;
        if (is_first) ends_.first = node;
        if (is_last) ends_.last = node;
        attach(parent, node, up);
    }
    // Removes a node from the children of `parent`, where it must be.
    void erase(NodeIndex parent, NodeIndex node);

    std::size_t count(NodeIndex parent) const { return size(links_[parent].top); }
    NodeIndex at(NodeIndex parent, std::size_t index) const;  // Requires index < count(parent).
    std::size_t index_of(NodeIndex node) const;               // Requires that it is in.
    // kNowhere at the end. O(1), amortised over a walk.
    NodeIndex first(NodeIndex parent) const;
    NodeIndex next(NodeIndex node) const;

    void check_invariants(NodeIndex parent) const;

private:
    struct Links {
        NodeIndex left = kNowhere;
        NodeIndex right = kNowhere;
        NodeIndex up = kNowhere;
        NodeIndex top = kNowhere;  // The root of the order of the node's own children.
        std::uint32_t size = 0;    // Size of the subtree; 0 while the node is in no order.
    };
    std::size_t size(NodeIndex node) const { return node == kNowhere ? 0 : links_[node].size; }
    // Gives a node that was linked in below `up` its links, and balances the path above it.
    void attach(NodeIndex parent, NodeIndex node, NodeIndex up);
    // Takes out a node that has one child at most, and balances the path above it.
    void detach(NodeIndex parent, NodeIndex node);
    // Balances the subtree of a node whose child `heavy` is too heavy. Returns its root. O(1).
    NodeIndex lightened(NodeIndex parent, NodeIndex node, NodeIndex heavy);
    // The link that points at the node.
    NodeIndex& slot_of(NodeIndex parent, NodeIndex node);
    // Rotates the node above the one that it hangs on. O(1).
    void rise(NodeIndex parent, NodeIndex node);

    std::vector<Links> links_;
    // The first and the last child of the parent of many that had the last insert; kNowhere for one
    // that is not known. Nodes often come in order, and then need no walk down.
    static constexpr std::size_t kMany = 16;
    struct Ends {
        NodeIndex parent = kNowhere;
        NodeIndex first = kNowhere;
        NodeIndex last = kNowhere;
    };
    Ends ends_;
};

}  // namespace quire::crdt
