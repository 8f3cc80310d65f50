// Moves take effect in the order of their lamports and peers, and a move that would make a cycle has
// none. TreeMoves keeps that order at one version and yields the steps to another; the tree applies
// them. Reading the version at which it is costs nothing more, reading another O(moves between them).
#include "crdt/doc/tree_body.h"

#include <algorithm>
#include <type_traits>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/tree_parts.h"
#include "crdt/doc/tree_values.h"
#include "crdt/doc/values.h"
#include "crdt/doc/view.h"
#include "crdt/merge/fractional_index.h"

namespace quire::crdt {

// State keeps views of positions, which stay where they are while the log grows.
static_assert(std::is_nothrow_move_constructible_v<OpContent>);

namespace {

TreeMoves::History moves_of(Site site) {
    const OpLog& log = site.document.oplog();
    return {log.atoms(), log.graph(), *site.container.log};
}

}  // namespace

TreeBody::TreeBody() = default;
TreeBody::~TreeBody() = default;

TreeParts& TreeBody::tree(Site site, const Past* at) {
    if (parts == nullptr) parts = std::make_unique<TreeParts>();
    // The pending transaction counts: its last op is then the only head.
    const Heads heads = at == nullptr ? site.document.journal().latest_heads() : at->heads();
    parts->state.apply(parts->moves.move_to(moves_of(site), heads));
    return *parts;
}

bool TreeBody::holds(Site site, OpId node, const Past* at) {
    return tree(site, at).alive(node).has_value();
}

Value TreeBody::value(Site site, int depth, const Past* at) {
    const auto limit = static_cast<std::size_t>(std::max(0, kMaxValueDepth - depth));
    // A value asked for on the way may move the tree, so its nodes are listed first.
    const std::vector<TreeNode> nodes = tree_nodes(tree(site, at).state, limit);
    DocBody& document = site.document;
    return nested(nodes, [&](OpId node, std::size_t level) -> Value {
        const ContainerId meta = ContainerId::normal(node, ContainerKind::map);
        if (!document.knows(meta) || !has_meta(document.oplog(), site.container, node))
            return Map();
        return value_of(document, document.container(document.open(meta)),
                        depth + static_cast<int>(level) + 1, at);
    });
}

bool TreeBody::has_meta(const OpLog& log, const Container& tree, OpId node) {
    const std::optional<Lv> made = log.atoms().lv_of(node);
    return made && log.container_of(*made) == tree.index;
}

bool TreeBody::makes(const OpLog& log, const Container& tree, OpId node) {
    if (!has_meta(log, tree, node)) return false;
    const ContainerLog& ops = *tree.log;
    const Run& run = ops.runs()[ops.find(*log.atoms().lv_of(node))];
    return std::holds_alternative<TreeCreate>(ops.op(run));
}

// --- differences ---

TreeDelta TreeBody::delta_of(Site site, LvSpan, const Past& a, const Past& b) {
    return delta_between(site, a, b);
}

// Leads the tree to `a` and then to `b`, and has it tell what the second way changes.
TreeDelta TreeBody::delta_between(Site site, const Past& a, const Past& b) {
    TreeParts& t = tree(site, &a);
    return t.state.apply_and_tell(t.moves.move_to(moves_of(site), b.heads()));
}

TreeDelta TreeBody::delta_from_nothing(Site site, const Past* at) {
    TreeDelta delta;
    for (TreeNode& node : tree_nodes(tree(site, at).state)) {
        delta.push_back({.kind = TreeAction::Kind::create,
                         .target = node.id,
                         .parent = node.parent,
                         .index = node.index,
                         .position = std::move(node.position),
                         .old_parent = std::nullopt});
    }
    return delta;
}

// --- children ---

bool TreeBody::holds_child(Site site, Lv creator) {
    return holds(site, site.document.oplog().atoms().id_of(creator), nullptr);
}

bool TreeBody::holds_child(Site site, Lv creator, Reach& reach) {
    return holds(site, site.document.oplog().atoms().id_of(creator), reach.at);
}

PathStep TreeBody::step_to(Site site, Lv creator) {
    return site.document.oplog().atoms().id_of(creator);
}

// --- local ops ---

void TreeBody::write(Site site, OpContent op) {
    OpLog& log = site.document.journal().begin();
    site.container.log->keep({.lv = log.end()}, RunKind::other, std::move(op));
    log.append(site.container.index, 1);
    site.document.outdate_reach();
}

// Finds a position between the neighbours of the new place. Peers that insert at one place at the
// same time may give several siblings one position, and nothing lies between equal positions. Then
// the siblings behind the place get new positions along with the node, as many as it takes until
// there is room.
std::vector<std::pair<NodeIndex, Bytes>> positions_for(const TreeState& state, NodeIndex node,
                                                       NodeIndex parent, std::size_t index) {
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

// --- promises ---

void TreeBody::check(Site site) {
    const ContainerLog& log = *site.container.log;
    TreeParts& kept = tree(site, nullptr);
    kept.moves.check_invariants();
    kept.state.check_invariants();
    // A replay of the ops gives the moves and the tree that were kept over all imports.
    TreeMoves moves;
    TreeState state;
    moves.move_to(moves_of(site), kept.moves.version());
    state.apply(moves.placements(log));
    CHECK(kept.moves.agrees_with(moves));
    const auto same = [](const TreeNode& x, const TreeNode& y) {
        return x.id == y.id && x.parent == y.parent && x.index == y.index &&
               x.position == y.position;
    };
    CHECK(std::ranges::equal(tree_nodes(kept.state), tree_nodes(state), same));
}

}  // namespace quire::crdt
