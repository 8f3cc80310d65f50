// Trees: a node goes back to the parent and position that it had, or away if it had none, if the
// spans' op still decides. A node keeps its id, and with it what it
// holds and what stands below it.
#include <algorithm>

#include "crdt/doc/tree_parts.h"
#include "crdt/doc/tree_values.h"
#include "crdt/undo/reversal.h"

namespace quire::crdt {

namespace {

// The node that an op of a tree is on.
std::optional<OpId> target_of(const OpContent& op) {
    if (const auto* create = std::get_if<TreeCreate>(&op)) return create->target;
    if (const auto* move = std::get_if<TreeMove>(&op)) return move->target;
    if (const auto* erase = std::get_if<TreeErase>(&op)) return erase->target;
    return std::nullopt;
}

}  // namespace

OpId Reversal::stands_for(OpId node) const {
    const std::optional<Lv> lv = body_.oplog().atoms().lv_of(node);
    return lv ? body_.oplog().atoms().id_of(stand_ins_.atoms.newest(*lv).lv) : node;
}

// Returns the op of a tree that has this rank.
// A placement tells the move by rank, while copies and registers know ops by number. Searched from
// the end, because the op that decides is mostly a late one: O(ops of the tree) at worst.
Lv Reversal::tree_op(const Container& c, OpId node, const Placement& placement) const {
    const ContainerLog& log = *c.log;
    for (auto run = log.runs().rbegin(); run != log.runs().rend(); ++run) {
        if (target_of(log.op(*run)) == node &&
            body_.oplog().graph().lamport(run->lv) == placement.lamport &&
            body_.oplog().atoms().peer_of(run->lv) == placement.peer) {
            return run->lv;
        }
    }
    return kNoLv;
}

const TreeParts& Reversal::tree_of(Container& c) const {
    return c.as<TreeBody>().tree({body_, c}, nullptr);
}

void Reversal::tree(Container& c) {
    Container* to = living(c);
    if (to == nullptr) return;
    std::vector<NodeStep> steps;  // The node that was touched last comes first.
    const ContainerLog& log = *c.log;
    for (const LvSpan& span : spans_) {
        for (const Run& run : log.runs_in(span)) {
            const std::optional<OpId> node = target_of(log.op(run));
            if (!node) continue;
            auto step = std::find_if(steps.begin(), steps.end(),
                                     [&](const NodeStep& s) { return s.node == *node; });
            if (step == steps.end()) {
                step = steps.insert(steps.begin(), NodeStep{*node});
                step->taken.names = &stand_ins_.values;
            }
            note(step->taken, run.lv);
            std::rotate(steps.begin(), step, step + 1);
        }
    }
    if (steps.empty()) return;
    // Their former places are read all at once, because reading another version moves the tree.
    Lv first = kNoLv;
    for (const NodeStep& step : steps) first = std::min(first, step.taken.first);
    const Past past = body_.journal().past_of(body_.oplog().graph().parents_of(first));
    const TreeParts& then = c.as<TreeBody>().tree({body_, c}, &past);
    for (NodeStep& step : steps) {
        const std::optional<NodeIndex> node = then.moves.find(step.node);
        if (!node || then.state.parent(*node) == kNowhere) continue;
        const Placement& placement = then.state.placement(*node);
        step.decided_by = tree_op(c, step.node, placement);
        step.stood = placement.parent != kTreeErased;
        if (step.stood && placement.parent != kTreeRoot)
            step.parent = then.moves.id_of(placement.parent);
        step.position.assign(placement.position.begin(), placement.position.end());
    }
    std::vector<OpId> touched;
    touched.reserve(steps.size());
    for (const NodeStep& step : steps) touched.push_back(step.node);
    // A node may have to wait until the one that it goes below has moved out from below it.
    for (bool moved = true; moved && !steps.empty();) {
        moved = false;
        for (auto step = steps.begin(); step != steps.end();) {
            if (put_back(c, *to, *step, touched)) {
                step = steps.erase(step);
                moved = true;
            } else {
                ++step;
            }
        }
    }
    undone_.skipped += steps.size();
}

// False while it would go below itself.
// An op of the spans must still decide where the node is: somebody who moved it later meant that,
// and the node is left there and counted as skipped.
bool Reversal::put_back(Container& from, Container& to, const NodeStep& step,
                        const std::vector<OpId>& touched) {
    const OpId node = stands_for(step.node);
    const TreeParts& now = tree_of(to);
    const std::optional<NodeIndex> index = now.moves.find(node);
    if (!index && step.stood && &to != &from) {
        make_again(from, to, step, touched);
        return true;
    }
    if (!index || now.state.parent(*index) == kNowhere ||
        !is_ours(step.taken, tree_op(to, node, now.state.placement(*index)))) {
        ++undone_.skipped;
        return true;
    }
    const Lv made = body_.oplog().end();
    if (!step.stood) {
        // It is erased already, as it is to be.
        if (now.state.parent(*index) == kTreeErased) return true;
        to.as<TreeBody>().write({body_, to}, TreeErase{node});
        ++undone_.removed;
    } else {
        std::optional<OpId> parent;
        if (step.parent) {
            parent = stands_for(*step.parent);
            const std::optional<NodeIndex> above = now.moves.find(*parent);
            if (above && now.state.is_within(*above, *index)) return false;
        }
        to.as<TreeBody>().write({body_, to}, TreeMove{node, parent, step.position});
        ++undone_.restored;
    }
    if (step.decided_by != kNoLv) stand_ins_.values.add(step.decided_by, made, 1);
    return true;
}

// A node of `to` that stands for one of another tree, and holds what that holds, if anything.
OpId Reversal::copy_node(Container& to, NodeCopy node, int depth) {
    const Lv made = body_.oplog().end();
    const OpId id = body_.journal().next_id();
    to.as<TreeBody>().write({body_, to}, TreeCreate{id, node.parent, std::move(node.position)});
    if (node.is_made) stand_ins_.atoms.add(*body_.oplog().atoms().lv_of(node.of), made, 1);
    if (node.decided_by != kNoLv) stand_ins_.values.add(node.decided_by, made, 1);
    if (!node.is_made) return id;
    const ContainerIndex source = body_.open(ContainerId::normal(node.of, ContainerKind::map));
    const ContainerIndex target = body_.open(ContainerId::normal(id, ContainerKind::map));
    copy(body_.container(source), body_.container(target), depth);
    return id;
}

// A tree that was brought back while the node was gone does not have it, nor what stood below it
// and was touched by nobody.
void Reversal::make_again(Container& from, Container& to, const NodeStep& step,
                          const std::vector<OpId>& touched) {
    if (!TreeBody::makes(body_.oplog(), from, step.node)) return;
    std::optional<OpId> parent;
    if (step.parent) parent = stands_for(*step.parent);
    struct Below {
        OpId node;
        OpId parent;
        Bytes position;
        Lv decided_by;
    };
    std::vector<Below> below;
    const TreeParts& old = tree_of(from);
    old.state.for_each_below(
        *old.moves.find(step.node), [&](NodeIndex node, std::size_t, std::size_t) {
            const OpId id = old.moves.id_of(node);
            if (std::find(touched.begin(), touched.end(), id) != touched.end()) return false;
            if (tree_of(to).moves.find(stands_for(id))) return false;
            const Placement& placement = old.state.placement(node);
            below.push_back({id, old.moves.id_of(placement.parent),
                             Bytes(placement.position.begin(), placement.position.end()),
                             tree_op(from, id, placement)});
            return true;
        });
    copy_node(to, {stands_for(step.node), true, parent, step.position, step.decided_by}, 0);
    for (Below& node : below) {
        copy_node(to,
                  {node.node, TreeBody::makes(body_.oplog(), from, node.node),
                   stands_for(node.parent), std::move(node.position), node.decided_by},
                  0);
    }
    undone_.restored += 1 + below.size();
}

// Parents come before their children in tree_nodes(), so each copy finds the copy of its parent.
void Reversal::copy_tree(Container& from, Container& to, int depth) {
    const std::vector<TreeNode> nodes = tree_nodes(tree_of(from).state);
    std::map<OpId, OpId> copies;
    for (const TreeNode& node : nodes) {
        const std::optional<NodeIndex> index = tree_of(from).moves.find(node.id);
        const Lv decided_by = tree_op(from, node.id, tree_of(from).state.placement(*index));
        std::optional<OpId> parent;
        if (node.parent) parent = copies.at(*node.parent);
        copies.emplace(node.id, copy_node(to,
                                          {node.id, TreeBody::makes(body_.oplog(), from, node.id),
                                           parent, node.position, decided_by},
                                          depth + 1));
    }
}

}  // namespace quire::crdt
