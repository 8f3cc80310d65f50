// The nodes in a row, in the order of a walk down the tree, are enough to build the nested value:
// one stack holds the nodes that are open, and a node closes when one of its depth or above comes.
#include "crdt/doc/tree_values.h"

#include <string>
#include <utility>

#include "base/concat.h"
#include "base/hex.h"
#include "crdt/ids/container_text.h"
#include "crdt/state/tree_state.h"

namespace quire::crdt {

std::vector<TreeNode> tree_nodes(const TreeState& state, std::size_t limit) {
    std::vector<TreeNode> nodes;
    std::vector<OpId> path;
    state.for_each_below(kTreeRoot, [&](NodeIndex node, std::size_t depth, std::size_t index) {
        if (depth >= limit) return false;
        const Placement& place = state.placement(node);
        path.resize(depth);
        nodes.push_back({place.id,
                         depth == 0 ? std::nullopt : std::optional(path.back()),
                         index,
                         depth,
                         {place.position.begin(), place.position.end()}});
        path.push_back(place.id);
        return true;
    });
    return nodes;
}

Value nested(std::span<const TreeNode> nodes,
             const std::function<Value(OpId node, std::size_t depth)>& meta) {
    // The way from the root to where we are, each with the children it has so far.
    struct Open {
        Map value;
        List children;
    };
    std::vector<Open> open(1);
    const auto close_to = [&](std::size_t depth) {
        while (open.size() > depth + 1) {
            Open done = std::move(open.back());
            open.pop_back();
            done.value.append("children", std::move(done.children));
            open.back().children.push_back(std::move(done.value));
        }
    };
    for (const TreeNode& node : nodes) {
        close_to(node.depth);
        Map value;
        value.append("id", to_text(node.id));
        value.append("index", node.index);
        value.append("fractional_index", to_hex(node.position, kUpperHex));
        value.append("meta", meta(node.id, node.depth));
        open.push_back({std::move(value), {}});
    }
    close_to(0);
    return std::move(open.front().children);
}

}  // namespace quire::crdt
