// A random edit of a tree, for tests that compare engines.
#pragma once

#include <optional>

#include "base/check.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/tree.h"
#include "crdt/doc/tree_values.h"

namespace quire {

// Creates, moves or erases a node; `below(n)` is a random number below n. Returns the map of a new
// node.
template <class Below>
std::optional<crdt::ContainerId> edit_tree(crdt::Doc& doc, crdt::Handle tree, Below below) {
    const std::vector<crdt::TreeNode> nodes = doc.tree(tree).nodes();
    const auto some_node = [&]() -> std::optional<crdt::OpId> {
        if (nodes.empty() || below(4) == 0) return std::nullopt;
        return nodes[below(nodes.size())].id;
    };
    const std::optional<crdt::OpId> parent = some_node();
    std::optional<std::size_t> index;
    const std::size_t what = below(8);
    if (nodes.empty() || what < 3) {
        const std::size_t last = doc.tree(tree).child_count(parent);
        if (below(3) > 0) index = below(last + 1);
        const Result<crdt::OpId> made = doc.tree(tree).create(parent, index);
        CHECK(made.has_value());
        CHECK(doc.tree(tree).node(*made)->parent == parent);
        CHECK(doc.tree(tree).node(*made)->index == index.value_or(last));
        return *doc.tree(tree).meta(*made);
    }
    const crdt::OpId node = nodes[below(nodes.size())].id;
    if (what == 3) {
        CHECK(doc.tree(tree).erase(node).has_value());
        CHECK(!doc.tree(tree).node(node));
        return std::nullopt;
    }
    const bool stays = doc.tree(tree).node(node)->parent == parent;
    if (below(3) > 0) index = below(doc.tree(tree).child_count(parent) + (stays ? 0 : 1));
    const Result<void> moved = doc.tree(tree).move(node, parent, index);
    if (!moved) {
        CHECK(moved.error().reason() == "cyclic_move");
        return std::nullopt;
    }
    CHECK(doc.tree(tree).node(node)->parent == parent);
    const std::size_t last = doc.tree(tree).child_count(parent) - 1;
    CHECK(doc.tree(tree).node(node)->index == index.value_or(last));
    return std::nullopt;
}

}  // namespace quire
