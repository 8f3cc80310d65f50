// The nodes of a tree as a reader sees them: in a row, and nested into a value.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/value.h"
#include "crdt/ids/ids.h"

namespace quire::crdt {

class TreeState;

struct TreeNode {
    OpId id;
    std::optional<OpId> parent;  // None: a root of the tree.
    std::size_t index = 0;       // Among its siblings.
    std::size_t depth = 0;       // 0 for a root.
    Bytes position;              // The fractional index by which siblings are ordered.
    friend bool operator==(const TreeNode&, const TreeNode&) = default;
};

// The nodes that are alive, parents before their children, siblings in order; those at `limit` and
// deeper are left out. O(n).
std::vector<TreeNode> tree_nodes(const TreeState& state,
                                 std::size_t limit = std::numeric_limits<std::size_t>::max());

// Returns the nodes as nested values: a list of {id, index, fractional_index, meta, children}, in
// which `meta(node, depth)` gives what a node holds. Never recurses, so that a deep tree costs no
// stack; the caller may recurse into so deep a value.
Value nested(std::span<const TreeNode> nodes,
             const std::function<Value(OpId node, std::size_t depth)>& meta);

}  // namespace quire::crdt
