#include "crdt/state/tree_state.h"

#include <algorithm>

#include "base/check.h"

namespace quire::crdt {

TreeState::TreeState() : places_(kFirstNode) {
    siblings_.make_room(kFirstNode);
}

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
