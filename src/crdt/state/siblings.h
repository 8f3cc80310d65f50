// Siblings: the children of each node of a tree in order, counted.
//
// One treap for each parent (Seidel & Aragon, "Randomized search trees", 1996), its links kept by
// node number, so that a node costs 20 bytes and no allocation of its own. The order is the
// caller's: it must not change while a node is in.
#pragma once

#include <vector>

#include "crdt/ids/placement.h"

namespace quire::crdt {

class Siblings {
public:
    // Nodes below `count` may be named from now on.
    void make_room(std::size_t count);

    // Puts a node that is in no order yet among the children of `parent`. `before(a, b)`: whether a
    // stands before b. O(log n), expected, as is all that follows.
    template <class Before>
    void insert(NodeIndex parent, NodeIndex node, Before before) {
        NodeIndex up = kNowhere;
        NodeIndex* slot = &links_[parent].top;
        while (*slot != kNowhere) {
            up = *slot;
            slot = before(node, up) ? &links_[up].left : &links_[up].right;
        }
        *slot = node;
        attach(parent, node, up);
    }
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
        NodeIndex top = kNowhere;  // Of the node's own children.
        std::uint32_t size = 0;    // Of the subtree; 0 while it is in no order.
    };
    std::size_t size(NodeIndex node) const { return node == kNowhere ? 0 : links_[node].size; }
    void attach(NodeIndex parent, NodeIndex node, NodeIndex up);
    NodeIndex& slot_of(NodeIndex parent, NodeIndex node);
    void rise(NodeIndex parent, NodeIndex node);

    std::vector<Links> links_;
};

}  // namespace quire::crdt
