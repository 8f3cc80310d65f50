// TreeState: the nodes of a tree where they stand, children in their order.
//
// A node is alive while the way up from it ends at the root. Erasing a node leaves what is below it
// where it was: a later move of it, or of one of those, brings them back.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "crdt/ids/diff.h"
#include "crdt/ids/placement.h"
#include "crdt/state/siblings.h"

namespace quire::crdt {

class TreeState {
public:
    TreeState();

    // Puts nodes where they stand now; none may be placed below itself once all are in. O(log
    // siblings) each.
    void apply(std::span<const Placement> placements);
    // The same, and tells what a reader sees of it: one action for a node that moved, and when a
    // node comes back or goes, for everything alive below it, or for it alone. Further O(depth) for
    // each node.
    TreeDelta apply_and_tell(std::span<const Placement> placements);

    // kNowhere for one that nothing has placed. O(1).
    NodeIndex parent(NodeIndex node) const {
        return node < places_.size() ? places_[node].parent : kNowhere;
    }
    // Requires that something has placed the node.
    const Placement& placement(NodeIndex node) const { return places_[node]; }
    bool is_alive(NodeIndex node) const;  // O(depth).
    // Whether the way up ends at the root or at what was erased, and not at what nothing placed.
    bool is_rooted(NodeIndex node) const;  // O(depth).
    // Whether `node` is `top` or stands below it. O(depth).
    bool is_within(NodeIndex node, NodeIndex top) const;

    // The children of a node, alive or not, or of kTreeRoot. O(log n).
    std::size_t child_count(NodeIndex parent) const {
        return parent < places_.size() ? siblings_.count(parent) : 0;
    }
    NodeIndex child(NodeIndex parent, std::size_t index) const {
        return siblings_.at(parent, index);
    }
    std::size_t index_of(NodeIndex node) const { return siblings_.index_of(node); }
    // For walking: kNowhere at the end.
    NodeIndex first_child(NodeIndex parent) const {
        return parent < places_.size() ? siblings_.first(parent) : kNowhere;
    }
    NodeIndex next_sibling(NodeIndex node) const { return siblings_.next(node); }
    // Everything below `top` in order, parents before their children. take(node, depth, index),
    // with depth 0 for the children of `top`, returns whether to go on below the node.
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
    // Whether a node has children: what was erased is not in order.
    static bool has_children(NodeIndex parent) {
        return parent != kTreeErased && parent != kNowhere;
    }
    std::optional<OpId> shown_parent(NodeIndex node) const;
    TreeAction erase_action(NodeIndex node) const;
    TreeAction create_action(NodeIndex node, std::size_t index) const;
    void make_room(const Placement& placement);
    void put(const Placement& placement);
    void take_out(NodeIndex node);

    std::vector<Placement> places_;  // By node.
    Siblings siblings_;
};

}  // namespace quire::crdt
