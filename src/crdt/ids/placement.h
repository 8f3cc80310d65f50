// Placement: the place of a node in a tree, as merging finds it and state keeps it.
//
// A move of a tree is decided in merge/tree_moves.h and carried out in state/tree_state.h; this is
// what the one hands to the other. Numbers instead of ids keep both in flat arrays.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>

#include "crdt/ids/ids.h"

namespace quire::crdt {

// A node by number: dense, in the order in which a replica's tree first saw them.
// Another replica may number the same nodes otherwise, so numbers never leave the document.
using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kTreeRoot = 0;    // Parent of the outermost nodes.
inline constexpr NodeIndex kTreeErased = 1;  // Parent of erased nodes.
// The first number of an ordinary node.
inline constexpr NodeIndex kFirstNode = 2;
inline constexpr NodeIndex kNowhere = ~NodeIndex{0};  // Parent of nodes that no op has placed.

// The place of one node. Siblings are ordered by position, compared as bytes, then by the
// (lamport, peer) of the move that put them there.
struct Placement {
    NodeIndex node = 0;
    NodeIndex parent = kNowhere;
    OpId id;  // The node's.
    Lamport lamport = 0;
    PeerId peer = 0;
    // A fractional index (merge/fractional_index.h).
    std::span<const std::uint8_t> position;  // Points into the log.
};

// The order of siblings.
inline bool stands_before(const Placement& a, const Placement& b) {
    const auto order = std::lexicographical_compare_three_way(a.position.begin(), a.position.end(),
                                                              b.position.begin(), b.position.end());
    if (order != 0) return order < 0;
    return a.lamport != b.lamport ? a.lamport < b.lamport : a.peer < b.peer;
}

}  // namespace quire::crdt
