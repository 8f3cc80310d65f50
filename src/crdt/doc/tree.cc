// Tree edits become creates, moves and erases with fractional indexes. A position between two
// siblings is a fresh index between theirs; siblings that share an index make room (see
// positions_for()). Reading brings the tree to the version that is shown.
#include "crdt/doc/tree.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/body.h"
#include "crdt/doc/tree_parts.h"
#include "crdt/doc/tree_values.h"
#include "crdt/ids/container_text.h"

namespace quire::crdt {

namespace {

Failure no_node(OpId node, std::string_view what) {
    return fail(Errc::not_found, "node_not_found",
                cat("the ", what, " ", to_text(node),
                    " is not in the tree, or was deleted; nothing was changed"));
}

// The tree at the version that readers see.
const TreeParts& shown_tree(Site site) {
    return site.container.as<TreeBody>().tree(site, site.document.at());
}

// The node that children of `parent` stand below; none for one that is not alive.
std::optional<NodeIndex> parent_node(Site site, const std::optional<OpId>& parent) {
    if (!parent) return kTreeRoot;
    return shown_tree(site).alive(*parent);
}

Failure no_child_at(std::size_t index, std::size_t count) {
    return fail(Errc::out_of_range, "out_of_bound",
                cat("index ", index, " lies beyond the ", count,
                    " children that the parent has; nothing was changed"));
}

}  // namespace

// Siblings that have to make room are moved after the node is made, each by an op of its own.
Result<OpId> TreeView::create(std::optional<OpId> parent, std::optional<std::size_t> index) {
    Container* c = body().editable(handle(), ContainerKind::tree);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::tree);
    const std::optional<NodeIndex> up = parent_node(site(), parent);
    if (!up) return no_node(*parent, "parent");
    const TreeParts& t = shown_tree(site());
    const std::size_t count = t.state.child_count(*up);
    if (index.value_or(0) > count) return no_child_at(*index, count);

    auto positions = positions_for(t.state, kNowhere, *up, index.value_or(count));
    const OpId id = body().journal().next_id();
    c->as<TreeBody>().write(site(), TreeCreate{id, parent, std::move(positions[0].second)});
    for (std::size_t i = 1; i < positions.size(); ++i) {
        c->as<TreeBody>().write(site(), TreeMove{t.moves.id_of(positions[i].first), parent,
                                                 std::move(positions[i].second)});
    }
    return id;
}

Result<void> TreeView::move(OpId node, std::optional<OpId> parent,
                            std::optional<std::size_t> index) {
    Container* c = body().editable(handle(), ContainerKind::tree);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::tree);
    const std::optional<NodeIndex> up = parent_node(site(), parent);
    if (!up) return no_node(*parent, "parent");
    const TreeParts& t = shown_tree(site());
    const std::optional<NodeIndex> moved = t.moves.find(node);
    // A node below an erased one is not alive, but has a parent of its own and may be moved out.
    const NodeIndex old_parent = moved ? t.state.parent(*moved) : kNowhere;
    if (old_parent == kNowhere || old_parent == kTreeErased) return no_node(node, "node");
    if (t.state.is_within(*up, *moved)) {
        return invalid("cyclic_move",
                       cat("the node ", to_text(node), " cannot go below itself, and ",
                           to_text(*parent), " is part of it; nothing was changed"));
    }
    const std::size_t count = t.state.child_count(*up) - (old_parent == *up ? 1 : 0);
    if (index.value_or(0) > count) return no_child_at(*index, count);
    const std::size_t goal = index.value_or(count);
    // A move that changes nothing would still outrank a concurrent move by somebody else.
    if (old_parent == *up && t.state.index_of(*moved) == goal) return {};

    auto positions = positions_for(t.state, *moved, *up, goal);
    for (auto& [each, position] : positions) {
        c->as<TreeBody>().write(site(), TreeMove{t.moves.id_of(each), parent, std::move(position)});
    }
    return {};
}

Result<void> TreeView::erase(OpId node) {
    Container* c = body().editable(handle(), ContainerKind::tree);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::tree);
    const TreeParts& t = shown_tree(site());
    const std::optional<NodeIndex> index = t.moves.find(node);
    const NodeIndex parent = index ? t.state.parent(*index) : kNowhere;
    if (parent == kNowhere || parent == kTreeErased) return no_node(node, "node");
    c->as<TreeBody>().write(site(), TreeErase{node});
    return {};
}

Result<ContainerId> TreeView::meta(OpId node) const {
    Container& c = container();
    if (c.id.kind != ContainerKind::tree) return body().refuse(handle(), ContainerKind::tree);
    if (!shown_tree(site()).alive(node)) return no_node(node, "node");
    return ContainerId::normal(node, ContainerKind::map);
}

std::vector<TreeNode> TreeView::nodes() const {
    return crdt::tree_nodes(shown_tree(site()).state);
}

std::optional<TreeNode> TreeView::node(OpId node) const {
    const TreeParts& tree = shown_tree(site());
    const std::optional<NodeIndex> index = tree.alive(node);
    if (!index) return std::nullopt;
    const TreeState& state = tree.state;
    const Placement& place = state.placement(*index);
    TreeNode out{node, std::nullopt, state.index_of(*index), 0, {}};
    out.position.assign(place.position.begin(), place.position.end());
    if (place.parent != kTreeRoot) out.parent = state.placement(place.parent).id;
    // The node is alive, so the way up ends at the root.
    for (NodeIndex up = place.parent; up != kTreeRoot; up = state.parent(up)) ++out.depth;
    return out;
}

std::size_t TreeView::child_count(std::optional<OpId> parent) const {
    const std::optional<NodeIndex> up = parent_node(site(), parent);
    return up ? shown_tree(site()).state.child_count(*up) : 0;
}

OpId TreeView::child(std::optional<OpId> parent, std::size_t index) const {
    const std::optional<NodeIndex> up = parent_node(site(), parent);
    const TreeState& state = shown_tree(site()).state;
    CHECK(up && index < state.child_count(*up));
    return state.placement(state.child(*up, index)).id;
}

std::vector<OpId> TreeView::children(std::optional<OpId> parent) const {
    std::vector<OpId> out;
    const std::optional<NodeIndex> up = parent_node(site(), parent);
    if (!up) return out;
    const TreeState& state = shown_tree(site()).state;
    for (NodeIndex at = state.first_child(*up); at != kNowhere; at = state.next_sibling(at))
        out.push_back(state.placement(at).id);
    return out;
}

}  // namespace quire::crdt
