// Each node has one placement, and stands in the order of its parent's children (siblings.h) unless
// the parent is the erased one or none: those keep no order. A node with children moves by its own
// link alone, since its children stay below it: O(log siblings) whatever hangs below.
#include "crdt/state/tree_state.h"

#include <algorithm>

#include "base/check.h"

namespace quire::crdt {

// The root and the parent of erased nodes have numbers too, and no placement.
TreeState::TreeState() : places_(kFirstNode) {
    siblings_.make_room(kFirstNode);
}

// An op may name a parent that no op has made, whose number is then above all placed nodes.
void TreeState::make_room(const Placement& placement) {
    std::size_t needed = std::max<std::size_t>(placement.node + 1U, places_.size());
    if (placement.parent != kNowhere) needed = std::max<std::size_t>(needed, placement.parent + 1U);
    places_.resize(needed);
    siblings_.make_room(needed);
}

void TreeState::take_out(NodeIndex node) {
    Placement& place = places_[node];
    if (has_children(place.parent)) siblings_.erase(place.parent, node);
    place.parent = kNowhere;
}

// The node leaves its old siblings before its placement changes: they are ordered by placement.
void TreeState::put(const Placement& placement) {
    make_room(placement);
    take_out(placement.node);
    places_[placement.node] = placement;
    if (!has_children(placement.parent)) return;
    siblings_.insert(placement.parent, placement.node, [&](NodeIndex a, NodeIndex b) {
        return stands_before(places_[a], places_[b]);
    });
}

void TreeState::apply(std::span<const Placement> placements) {
    for (const Placement& placement : placements) put(placement);
}

// Walks up end, because apply() is given placements that make no cycle.
bool TreeState::is_alive(NodeIndex node) const {
    while (node >= kFirstNode && node != kNowhere) node = parent(node);
    return node == kTreeRoot;
}

bool TreeState::is_rooted(NodeIndex node) const {
    while (node >= kFirstNode && node != kNowhere) node = parent(node);
    return node != kNowhere;
}

bool TreeState::is_within(NodeIndex node, NodeIndex top) const {
    while (node != top && node >= kFirstNode && node != kNowhere) node = parent(node);
    return node == top;
}

void TreeState::check_invariants() const {
    for (NodeIndex node = 0; node < places_.size(); ++node) {
        siblings_.check_invariants(node);
        NodeIndex before = kNowhere;
        for (NodeIndex at = first_child(node); at != kNowhere; at = next_sibling(at)) {
            CHECK(parent(at) == node && places_[at].node == at);
            CHECK(before == kNowhere || stands_before(places_[before], places_[at]));
            before = at;
        }
    }
}

}  // namespace quire::crdt
