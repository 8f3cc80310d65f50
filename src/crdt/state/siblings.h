// Siblings: the ordered and counted children of each node of a tree.
//
// One treap per parent (Seidel & Aragon, "Randomized search trees", 1996), its links stored by node
// number, so a node costs 20 bytes and no allocation of its own. The caller defines the order,
// which must not change while a node is in.
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
    // if `a` comes before `b`. This and the following are O(log n), expected.
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
        NodeIndex top = kNowhere;  // The root of the treap of the node's own children.
        std::uint32_t size = 0;    // Size of the subtree; 0 while the node is in no order.
    };
    std::size_t size(NodeIndex node) const { return node == kNowhere ? 0 : links_[node].size; }
    // Gives a node that was linked in below `up` its links, and lets it rise to its priority.
    void attach(NodeIndex parent, NodeIndex node, NodeIndex up);
    // The link that points at the node.
    NodeIndex& slot_of(NodeIndex parent, NodeIndex node);
    // Rotates the node above the one that it hangs on. O(1).
    void rise(NodeIndex parent, NodeIndex node);

    std::vector<Links> links_;
};

}  // namespace quire::crdt
