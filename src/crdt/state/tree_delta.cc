// Computing what a reader sees when nodes change their places: TreeState::apply_and_tell().
//
// Only placed nodes and their descendants can change. Their depth below the root before and after
// tells whether each moved, came back or went.
#include <algorithm>
#include <unordered_map>

#include "crdt/state/tree_state.h"

namespace quire::crdt {

namespace {

constexpr std::uint32_t kDead = ~std::uint32_t{0};

// The depth of nodes below the root, kDead for nodes not below it. Each node on the way is visited
// once.
template <class ParentOf>
class Depths {
public:
    explicit Depths(ParentOf parent_of) : parent_of_(std::move(parent_of)) {}

    // Follows parents until a known depth, then fills in the nodes on the way.
    std::uint32_t of(NodeIndex node) {
        std::uint32_t depth = 0;
        for (; node != kTreeRoot; node = parent_of_(node)) {
            if (node == kNowhere || node == kTreeErased) {
                depth = kDead;
                break;
            }
            const auto known = known_.find(node);
            if (known != known_.end()) {
                depth = known->second;
                break;
            }
            way_.push_back(node);
        }
        for (; !way_.empty(); way_.pop_back()) {
            if (depth != kDead) ++depth;
            known_.emplace(way_.back(), depth);
        }
        return depth;
    }

private:
    ParentOf parent_of_;
    std::unordered_map<NodeIndex, std::uint32_t> known_;
    std::vector<NodeIndex> way_;
};

struct Step {
    const Placement* placement;
    std::uint32_t before;  // Depth, or kDead.
    std::uint32_t after;
};

}  // namespace

std::optional<OpId> TreeState::shown_parent(NodeIndex node) const {
    const NodeIndex up = parent(node);
    if (up == kTreeRoot) return std::nullopt;
    return places_[up].id;
}

TreeAction TreeState::create_action(NodeIndex node, std::size_t index) const {
    const Placement& place = places_[node];
    return {.kind = TreeAction::Kind::create,
            .target = place.id,
            .parent = shown_parent(node),
            .index = index,
            .position = {place.position.begin(), place.position.end()},
            .old_parent = std::nullopt};
}

TreeAction TreeState::erase_action(NodeIndex node) const {
    TreeAction action;
    action.kind = TreeAction::Kind::erase;
    action.target = places_[node].id;
    action.old_parent = shown_parent(node);
    action.old_index = index_of(node);
    return action;
}

// Nodes that stay or arrive are placed from the root downwards in their final positions, so that
// each finds its parent and no node is ever put below itself; nodes that go wait until everything
// below them that stays has left. Actions whose order is free are sorted by id: node numbers differ
// between replicas, and one change should read the same everywhere.
TreeDelta TreeState::apply_and_tell(std::span<const Placement> placements) {
    std::unordered_map<NodeIndex, const Placement*> moved;
    for (const Placement& placement : placements) moved.emplace(placement.node, &placement);
    Depths before([&](NodeIndex node) { return parent(node); });
    Depths after([&](NodeIndex node) {
        const auto at = moved.find(node);
        return at == moved.end() ? parent(node) : at->second->parent;
    });
    const auto id_of = [&](NodeIndex node) {
        const auto at = moved.find(node);
        return at == moved.end() ? places_[node].id : at->second->id;
    };
    std::vector<Step> staying;
    std::vector<Step> going;
    std::vector<const Placement*> unseen;
    for (const Placement& placement : placements) {
        const Step step{&placement, before.of(placement.node), after.of(placement.node)};
        if (step.after != kDead) staying.push_back(step);
        if (step.after == kDead) unseen.push_back(&placement);
        if (step.after == kDead && step.before != kDead) going.push_back(step);
    }
    // A returning node is reported once, at its final place.
    for (const Placement& placement : placements) {
        if (parent(placement.node) != kNowhere && before.of(placement.node) == kDead)
            take_out(placement.node);
    }
    std::sort(staying.begin(), staying.end(), [&](const Step& a, const Step& b) {
        if (a.after != b.after) return a.after < b.after;
        if (a.placement->parent != b.placement->parent)
            return id_of(a.placement->parent) < id_of(b.placement->parent);
        return stands_before(*a.placement, *b.placement);
    });
    std::sort(going.begin(), going.end(), [](const Step& a, const Step& b) {
        if (a.before != b.before) return a.before < b.before;
        return a.placement->id < b.placement->id;
    });

    TreeDelta delta;
    for (const Step& step : staying) {
        const NodeIndex node = step.placement->node;
        if (step.before == kDead) {
            put(*step.placement);
            delta.push_back(create_action(node, index_of(node)));
            for_each_below(node, [&](NodeIndex below, std::size_t, std::size_t index) {
                delta.push_back(create_action(below, index));
                return true;
            });
            continue;
        }
        const NodeIndex old_parent = parent(node);
        const bool same_position =
            std::ranges::equal(places_[node].position, step.placement->position);
        TreeAction action = erase_action(node);
        put(*step.placement);
        const TreeAction now = create_action(node, index_of(node));
        if (old_parent == step.placement->parent && same_position &&
            action.old_index == now.index) {
            continue;
        }
        action.kind = TreeAction::Kind::move;
        action.parent = now.parent;
        action.index = now.index;
        action.position = now.position;
        delta.push_back(std::move(action));
    }
    for (const Step& step : going) {
        if (!is_alive(step.placement->node)) continue;
        delta.push_back(erase_action(step.placement->node));
        take_out(step.placement->node);
    }
    // These nodes are not shown before or after. They are placed all the same: a later move of an
    // ancestor may bring them back with it.
    for (const Placement* placement : unseen) put(*placement);
    return delta;
}

}  // namespace quire::crdt
