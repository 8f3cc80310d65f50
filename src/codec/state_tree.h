// The state of a tree: every node that was ever made, with its last effective move.
//
//   peers (state_columns.h)
//   uleb 4 (four fields)
//   uleb 2, two columns: a row for each node
//       peer       DeltaRle  index
//       counter    DeltaRle
//   uleb 5, five columns: a row for each node
//       parent     DeltaRle  0 none (a root), 1 deleted, else row of the parent plus 2
//       the atoms' columns, of the last move
//       position   uleb count, then for each: uleb index into the positions
//   sized positions (tables.h), sorted by bytes, each once; with none: 01 02 00 01 00
//   sized, empty: once said which moves had an effect
//
// Written are the live nodes, then the deleted; of each, siblings stand together in their order and
// are followed by the children of each of them in turn, likewise. Read are nodes in any order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codec/state_columns.h"

namespace quire::codec {

// The parent of deleted nodes.
inline constexpr crdt::OpId kDeletedTreeRoot{crdt::kNoPeer, INT32_MAX};

struct TreeNode {
    crdt::OpId id;
    std::optional<crdt::OpId> parent;  // None: a root. kDeletedTreeRoot: deleted.
    StampedId last_move;
    Bytes position;  // Fractional index.
    friend bool operator==(const TreeNode&, const TreeNode&) = default;
};

struct TreeState {
    std::vector<TreeNode> nodes;
    friend bool operator==(const TreeState&, const TreeState&) = default;
};

// Failures go to `in`, which has to be used up. No node is there twice
// and none is its own ancestor.
TreeState read_tree_state(ByteReader& in, Budget& budget);
// Takes nodes in any order. CHECKs that parents are among them and that none is its own ancestor.
void write_tree_state(ByteWriter& out, const TreeState& state);

}  // namespace quire::codec
