// Tree edits become creates, moves and erases with fractional indexes. A position between two
// siblings is a fresh index between theirs; siblings that share an index make room (see
// DocBody::tree_positions). Reading brings the tree to the version that is shown.
#include "crdt/doc/tree.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/body.h"
#include "crdt/doc/tree_body.h"
#include "crdt/doc/tree_values.h"
#include "crdt/ids/container_text.h"

namespace quire::crdt {

namespace {

Failure no_node(OpId node, std::string_view what) {
    return fail(Errc::not_found, "node_not_found",
                cat("the ", what, " ", to_text(node),
                    " is not in the tree, or was deleted; nothing was changed"));
}

// The node that children of `parent` stand below; none for one that is not alive.
std::optional<NodeIndex> parent_node(DocBody& body, Container& c,
                                     const std::optional<OpId>& parent) {
    if (!parent) return kTreeRoot;
    return body.tree_node(c, *parent, body.at());
}

Failure no_child_at(std::size_t index, std::size_t count) {
    return fail(Errc::out_of_range, "out_of_bound",
                cat("index ", index, " lies beyond the ", count,
                    " children that the parent has; nothing was changed"));
}

}  // namespace

Result<OpId> TreeView::create(std::optional<OpId> parent, std::optional<std::size_t> index) {
    Container* c = body().editable(handle(), ContainerKind::tree);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::tree);
    const std::optional<NodeIndex> up = parent_node(body(), *c, parent);
    if (!up) return no_node(*parent, "parent");
    const TreeBody& t = body().tree(*c, body().at());
    const std::size_t count = t.state.child_count(*up);
    if (index.value_or(0) > count) return no_child_at(*index, count);

    auto positions = body().tree_positions(t.state, kNowhere, *up, index.value_or(count));
    const OpId id{body().peer_id(), body().oplog().atoms().end_of(body().peer_id())};
    body().write_tree(*c, TreeCreate{id, parent, std::move(positions[0].second)});
    for (std::size_t i = 1; i < positions.size(); ++i) {
        body().write_tree(*c, TreeMove{t.moves.id_of(positions[i].first), parent,
                                       std::move(positions[i].second)});
    }
    return id;
}

Result<void> TreeView::move(OpId node, std::optional<OpId> parent,
                            std::optional<std::size_t> index) {
    Container* c = body().editable(handle(), ContainerKind::tree);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::tree);
    const std::optional<NodeIndex> up = parent_node(body(), *c, parent);
    if (!up) return no_node(*parent, "parent");
    const TreeBody& t = body().tree(*c, body().at());
    const std::optional<NodeIndex> moved = t.moves.find(node);
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
    if (old_parent == *up && t.state.index_of(*moved) == goal) return {};

    auto positions = body().tree_positions(t.state, *moved, *up, goal);
    for (auto& [each, position] : positions) {
        body().write_tree(*c, TreeMove{t.moves.id_of(each), parent, std::move(position)});
    }
    return {};
}

Result<void> TreeView::erase(OpId node) {
    Container* c = body().editable(handle(), ContainerKind::tree);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::tree);
    const TreeBody& t = body().tree(*c, body().at());
    const std::optional<NodeIndex> index = t.moves.find(node);
    const NodeIndex parent = index ? t.state.parent(*index) : kNowhere;
    if (parent == kNowhere || parent == kTreeErased) return no_node(node, "node");
    body().write_tree(*c, TreeErase{node});
    return {};
}

Result<ContainerId> TreeView::meta(OpId node) const {
    Container& c = container();
    if (c.id.kind != ContainerKind::tree) return body().refuse(handle(), ContainerKind::tree);
    if (!body().tree_node(c, node, body().at())) return no_node(node, "node");
    return ContainerId::normal(node, ContainerKind::map);
}

std::vector<TreeNode> TreeView::nodes() const {
    return crdt::tree_nodes(body().tree(container(), body().at()).state);
}

std::optional<TreeNode> TreeView::node(OpId node) const {
    Container& c = container();
    const std::optional<NodeIndex> index = body().tree_node(c, node, body().at());
    if (!index) return std::nullopt;
    const TreeState& state = body().tree(c, body().at()).state;
    const Placement& place = state.placement(*index);
    TreeNode out{node, std::nullopt, state.index_of(*index), 0, {}};
    out.position.assign(place.position.begin(), place.position.end());
    if (place.parent != kTreeRoot) out.parent = state.placement(place.parent).id;
    for (NodeIndex up = place.parent; up != kTreeRoot; up = state.parent(up)) ++out.depth;
    return out;
}

std::size_t TreeView::child_count(std::optional<OpId> parent) const {
    Container& c = container();
    const std::optional<NodeIndex> up = parent_node(body(), c, parent);
    return up ? body().tree(c, body().at()).state.child_count(*up) : 0;
}

OpId TreeView::child(std::optional<OpId> parent, std::size_t index) const {
    Container& c = container();
    const std::optional<NodeIndex> up = parent_node(body(), c, parent);
    const TreeState& state = body().tree(c, body().at()).state;
    CHECK(up && index < state.child_count(*up));
    return state.placement(state.child(*up, index)).id;
}

std::vector<OpId> TreeView::children(std::optional<OpId> parent) const {
    Container& c = container();
    std::vector<OpId> out;
    const std::optional<NodeIndex> up = parent_node(body(), c, parent);
    if (!up) return out;
    const TreeState& state = body().tree(c, body().at()).state;
    for (NodeIndex at = state.first_child(*up); at != kNowhere; at = state.next_sibling(at))
        out.push_back(state.placement(at).id);
    return out;
}

}  // namespace quire::crdt
