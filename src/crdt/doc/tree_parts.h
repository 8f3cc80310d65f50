// TreeParts: the moves of a tree container and the tree that they make.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "crdt/ids/placement.h"
#include "crdt/merge/tree_moves.h"
#include "crdt/state/tree_state.h"

namespace quire::crdt {

// Both are at the version of `moves`.
struct TreeParts {
    TreeMoves moves;
    TreeState state;

    // The number of a node; none if the node is not alive.
    std::optional<NodeIndex> alive(OpId node) const {
        const std::optional<NodeIndex> index = moves.find(node);
        return index && state.is_alive(*index) ? index : std::nullopt;
    }
};

// A position for `node` as the index-th child of `parent`, not counting the node itself (it may be
// nowhere yet), and then the positions of the siblings behind it that have to make room.
std::vector<std::pair<NodeIndex, Bytes>> positions_for(const TreeState& state, NodeIndex node,
                                                       NodeIndex parent, std::size_t index);

}  // namespace quire::crdt
