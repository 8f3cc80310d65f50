// TreeState: the nodes of a tree at their places, children in order.
//
// A node is alive if the path up from it ends at the root. Erasing a node leaves its descendants
// below it: a later move of the node, or of one of them, brings them back.
//
// A tree's moves are ordered and freed of cycles elsewhere (merge/tree_moves.h); here each node has
// one placement, the one that counts. The children of the root and of every node are kept in order;
// the erased ones have none, since nobody reads them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "crdt/ids/diff.h"
#include "crdt/ids/placement.h"
#include "crdt/state/siblings.h"

namespace quire::crdt {

// The state of one tree. Nodes have dense numbers (placement.h); ids appear in its answers only.
class TreeState {
public:
    TreeState();

    // Puts nodes at their places; afterwards none may be below itself. O(log siblings) each.
    void apply(std::span<const Placement> placements);
    // Like apply(), and returns the change for a reader: one action for a moved node; for a node
    // that returns or goes, one for everything alive below it, or for it alone. O(depth) more for
    // each node.
    TreeDelta apply_and_tell(std::span<const Placement> placements);

    // kNowhere for a node that nothing has placed. O(1).
    NodeIndex parent(NodeIndex node) const {
        return node < places_.size() ? places_[node].parent : kNowhere;
    }
    // Requires that the node was placed.
    // Its `position` points into the log and holds as long as that.
    const Placement& placement(NodeIndex node) const { return places_[node]; }
    bool is_alive(NodeIndex node) const;  // O(depth).
    // Returns true if the path up ends at the root or at the erased nodes, not at an unplaced node.
    bool is_rooted(NodeIndex node) const;  // O(depth).
    // Returns true if `node` is `top` or below it. O(depth).
    bool is_within(NodeIndex node, NodeIndex top) const;

    // The children of a node or of kTreeRoot, alive or not. O(log n).
    std::size_t child_count(NodeIndex parent) const {
        return parent < places_.size() ? siblings_.count(parent) : 0;
    }
    NodeIndex child(NodeIndex parent, std::size_t index) const {
        return siblings_.at(parent, index);
    }
    std::size_t index_of(NodeIndex node) const { return siblings_.index_of(node); }
    // For iterating: kNowhere at the end.
    NodeIndex first_child(NodeIndex parent) const {
        return parent < places_.size() ? siblings_.first(parent) : kNowhere;
    }
    NodeIndex next_sibling(NodeIndex node) const { return siblings_.next(node); }
    // Visits everything below `top` in order, parents before children. take(node, depth, index),
    // with depth 0 for the children of `top`, returns whether to descend into the node.
    template <class Take>
    void for_each_below(NodeIndex top, Take take) const {
        std::vector<NodeIndex> path;
        std::vector<std::size_t> indexes{0};
        NodeIndex at = first_child(top);
        for (;;) {
            if (at == kNowhere) {
                if (path.empty()) return;
                at = next_sibling(path.back());
                path.pop_back();
                indexes.pop_back();
                ++indexes.back();
            } else if (take(at, path.size(), indexes.back())) {
                path.push_back(at);
                indexes.push_back(0);
                at = first_child(at);
            } else {
                at = next_sibling(at);
                ++indexes.back();
            }
        }
    }

    void check_invariants() const;

private:
    // Returns true if the node has ordered children; erased ones have no order.
    static bool has_children(NodeIndex parent) {
        return parent != kTreeErased && parent != kNowhere;
    }
    // The parent as a reader names it: none for the root.
    std::optional<OpId> shown_parent(NodeIndex node) const;
    TreeAction erase_action(NodeIndex node) const;
    TreeAction create_action(NodeIndex node, std::size_t index) const;
    void make_room(const Placement& placement);
    // Takes the node from where it is and puts it in its new place.
    void put(const Placement& placement);
    // Makes the node stand nowhere. What is below it stays below it.
    void take_out(NodeIndex node);

    std::vector<Placement> places_;  // Indexed by node.
    Siblings siblings_;
};

}  // namespace quire::crdt
