// TreeView: reads and edits a forest of nodes, each of which holds a map.
//
// A node is named by the atom that made it. Where an optional parent is none, the root of the tree
// is meant. An index counts among the siblings, the moved node left out; none means the end.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/result.h"
#include "crdt/doc/doc.h"
#include "crdt/ids/ids.h"

namespace quire::crdt {

struct TreeNode;  // tree_values.h

class TreeView : public ContainerView {
public:
    // All nodes, parents before their children, siblings in order. O(n).
    std::vector<TreeNode> nodes() const;
    // Returns none for a node that is not alive. O(log n + depth).
    std::optional<TreeNode> node(OpId node) const;
    // The number of a node's children; 0 for a node that is not alive.
    std::size_t child_count(std::optional<OpId> parent = std::nullopt) const;
    OpId child(std::optional<OpId> parent, std::size_t index) const;  // CHECKs the index.
    std::vector<OpId> children(std::optional<OpId> parent = std::nullopt) const;
    // The map that a node holds. Errors: not_found "node_not_found".
    Result<ContainerId> meta(OpId node) const;

    // Siblings that share a fractional index with the new place's left neighbour are moved too, to
    // make room. O(log n + depth). Errors, beside those in container_view.h: not_found
    // "node_not_found" for a node or a parent that is not alive (but a node may be moved out from
    // below an erased one); invalid_argument "cyclic_move" for a move of a node below itself.
    Result<OpId> create(std::optional<OpId> parent = std::nullopt,
                        std::optional<std::size_t> index = std::nullopt);
    Result<void> move(OpId node, std::optional<OpId> parent = std::nullopt,
                      std::optional<std::size_t> index = std::nullopt);
    Result<void> erase(OpId node);  // With all that is below it.

private:
    friend class Doc;
    TreeView(const Doc& doc, Handle handle) : ContainerView(doc, handle) {}
};

inline TreeView Doc::tree(Handle tree) {
    return {*this, tree};
}
inline const TreeView Doc::tree(Handle tree) const {
    return {*this, tree};
}

}  // namespace quire::crdt
