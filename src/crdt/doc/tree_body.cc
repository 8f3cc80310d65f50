// Trees within a document: state that follows the log to any version, values, diffs, local ops.
#include "crdt/doc/tree_body.h"

#include <algorithm>
#include <type_traits>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/tree_values.h"
#include "crdt/merge/fractional_index.h"

namespace quire::crdt {

// State keeps views of positions, which stay where they are while the log grows.
static_assert(std::is_nothrow_move_constructible_v<OpContent>);

TreeBody& DocBody::tree(Container& c, const Past* at) {
    CHECK(c.id.kind == ContainerKind::tree);
    if (c.tree == nullptr) c.tree = std::make_unique<TreeBody>();
    // Until it is committed, what is pending is the only head.
    const Heads latest = open_ ? Heads{log_.end() - 1} : log_.heads();
    const TreeMoves::History history{log_.atoms(), log_.graph(), log_of(c)};
    c.tree->state.apply(c.tree->moves.move_to(history, at == nullptr ? latest : at->heads()));
    return *c.tree;
}

std::optional<NodeIndex> DocBody::tree_node(Container& c, OpId node, const Past* at) {
    const TreeBody& t = tree(c, at);
    const std::optional<NodeIndex> index = t.moves.find(node);
    if (!index || !t.state.is_alive(*index)) return std::nullopt;
    return index;
}

Value DocBody::tree_value(Container& c, int depth, const Past* at) {
    const auto limit = static_cast<std::size_t>(std::max(0, kMaxValueDepth - depth));
    // A value asked for on the way may move the tree: what it holds is noted first.
    const std::vector<TreeNode> nodes = tree_nodes(tree(c, at).state, limit);
    return nested(nodes, [&](OpId node, std::size_t level) -> Value {
        const auto meta = index_.find(ContainerId::normal(node, ContainerKind::map));
        if (meta == index_.end() || !has_meta(c, node)) return Map();
        return value(containers_[meta->second], depth + static_cast<int>(level) + 1, at);
    });
}

TreeDelta DocBody::tree_diff(Container& c, const Past& a, const Past& b) {
    TreeBody& t = tree(c, &a);
    const TreeMoves::History history{log_.atoms(), log_.graph(), log_of(c)};
    return t.state.apply_and_tell(t.moves.move_to(history, b.heads()));
}

TreeDelta DocBody::tree_from_nothing(Container& c, const Past* at) {
    TreeDelta delta;
    for (TreeNode& node : tree_nodes(tree(c, at).state)) {
        delta.push_back({.kind = TreeAction::Kind::create,
                         .target = node.id,
                         .parent = node.parent,
                         .index = node.index,
                         .position = std::move(node.position),
                         .old_parent = std::nullopt});
    }
    return delta;
}

void DocBody::write_tree(Container& c, OpContent op) {
    begin();
    log_of(c).keep({.lv = log_.end()}, RunKind::other, std::move(op));
    log_.append(c.index, 1);
    ++epoch_;
}

std::vector<std::pair<NodeIndex, Bytes>> DocBody::tree_positions(const TreeState& state,
                                                                 NodeIndex node, NodeIndex parent,
                                                                 std::size_t index) {
    const bool leaves = state.parent(node) == parent;
    const std::size_t own = leaves ? state.index_of(node) : 0;
    const std::size_t count = state.child_count(parent) - (leaves ? 1 : 0);
    const auto sibling = [&](std::size_t i) {
        return state.child(parent, leaves && i >= own ? i + 1 : i);
    };
    const auto position = [&](std::size_t i) -> std::optional<PositionView> {
        if (i >= count) return std::nullopt;
        return state.placement(sibling(i)).position;
    };
    const auto lower = index == 0 ? std::nullopt : position(index - 1);
    // Siblings at the same position, which only their moves tell apart, go behind the node; so do
    // those that leave no room.
    std::vector<NodeIndex> places{node};
    auto upper = position(index);
    const auto step = [&] {
        places.push_back(sibling(index + places.size() - 1));
        upper = position(index + places.size() - 1);
    };
    while (lower && upper && std::ranges::equal(*lower, *upper)) step();
    auto positions = positions_between(lower, upper, places.size());
    while (!positions) {
        step();
        positions = positions_between(lower, upper, places.size());
    }
    std::vector<std::pair<NodeIndex, Bytes>> out;
    for (std::size_t i = 0; i < places.size(); ++i)
        out.emplace_back(places[i], std::move((*positions)[i]));
    return out;
}

void DocBody::check_tree(Container& c) {
    const ContainerLog& log = log_of(c);
    TreeBody& kept = tree(c, nullptr);
    kept.moves.check_invariants();
    kept.state.check_invariants();
    // What was kept over all that was imported is what a replay of the ops gives.
    TreeMoves moves;
    TreeState state;
    moves.move_to({log_.atoms(), log_.graph(), log}, kept.moves.version());
    state.apply(moves.placements(log));
    CHECK(kept.moves.agrees_with(moves));
    const auto same = [](const TreeNode& x, const TreeNode& y) {
        return x.id == y.id && x.parent == y.parent && x.index == y.index &&
               x.position == y.position;
    };
    CHECK(std::ranges::equal(tree_nodes(kept.state), tree_nodes(state), same));
}

}  // namespace quire::crdt
