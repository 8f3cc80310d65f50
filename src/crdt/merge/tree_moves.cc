// All present ops lie in one array, sorted by rank. Each op remembers which op decided its target's
// place before it (`before`), so undoing is one assignment per op. A version change collects the
// ops that come and go, undoes down to the lowest of them, and applies the rest again. Only
// applying needs the cycle check, a walk up from the new parent; a node without children cannot
// become its own ancestor, so creating a deep tree does not pay for its depth.

#include "crdt/merge/tree_moves.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace quire::crdt {

TreeMoves::TreeMoves() : nodes_(kFirstNode) {}

std::optional<NodeIndex> TreeMoves::find(OpId node) const {
    const auto at = by_id_.find(node);
    if (at == by_id_.end()) return std::nullopt;
    return at->second;
}

NodeIndex TreeMoves::intern(OpId id) {
    const auto [at, added] = by_id_.try_emplace(id, static_cast<NodeIndex>(nodes_.size()));
    if (added) nodes_.push_back({id, kNoMove, kNoMove, 0, false});
    return at->second;
}

// All replicas agree on this order: it is by lamport and peer, which travel with the ops.
bool TreeMoves::ranks_below(MoveIndex a, MoveIndex b) const {
    const Move& x = moves_[a];
    const Move& y = moves_[b];
    if (x.lamport != y.lamport) return x.lamport < y.lamport;
    // Ops that stand for a state may have made-up lamports. Those of one node never tie.
    return x.peer != y.peer ? x.peer < y.peer : a < b;
}

// Numbers the new runs of the log and ranks them.
void TreeMoves::read(const History& history) {
    const auto& runs = history.log.runs();
    for (std::size_t i = moves_.size(); i < runs.size(); ++i) {
        const OpContent& op = history.log.op(runs[i]);
        Move move;
        move.lamport = history.graph.lamport(runs[i].lv);
        move.peer = history.atoms.peer_of(runs[i].lv);
        const auto below = [&](OpId target, const std::optional<OpId>& parent) {
            move.target = intern(target);
            move.parent = parent ? intern(*parent) : kTreeRoot;
        };
        if (const auto* create = std::get_if<TreeCreate>(&op)) {
            below(create->target, create->parent);
        } else if (const auto* moved = std::get_if<TreeMove>(&op)) {
            below(moved->target, moved->parent);
        } else if (const auto* erase = std::get_if<TreeErase>(&op)) {
            move.target = intern(erase->target);
            move.parent = kTreeErased;
        }
        moves_.push_back(move);
    }
}

// Switches the ops of `spans` on or off, as `present` says.
void TreeMoves::flip(const History& history, const std::vector<LvSpan>& spans, bool present,
                     std::vector<MoveIndex>& out) {
    const auto& runs = history.log.runs();
    for (const LvSpan& span : spans) {
        for (std::size_t i = history.log.find(span.begin); i < runs.size() && runs[i].lv < span.end;
             ++i) {
            Move& move = moves_[i];
            if (move.target == kNowhere || move.present == present) continue;
            move.present = present;
            out.push_back(static_cast<MoveIndex>(i));
        }
    }
}

// Undo, switch, redo; then the nodes whose deciding op changed.
// New ops that outrank all others only append: `low` is the end of the order, nothing is undone. A
// node that comes back to the place that was reported last is not told.
std::vector<Placement> TreeMoves::move_to(const History& history, const Heads& version) {
    if (version == version_) return {};
    read(history);
    Difference difference;
    history.graph.diff(version_, version, difference);
    version_ = version;
    std::vector<MoveIndex> gone;
    std::vector<MoveIndex> come;
    flip(history, difference.only_a, false, gone);
    flip(history, difference.only_b, true, come);
    if (gone.empty() && come.empty()) return {};

    const auto by_rank = [&](MoveIndex a, MoveIndex b) { return ranks_below(a, b); };
    // The ops of one writer arrive in order.
    if (!std::is_sorted(come.begin(), come.end(), by_rank))
        std::sort(come.begin(), come.end(), by_rank);
    std::size_t low = order_.size();
    const auto reach_down_to = [&](MoveIndex lowest) {
        if (low == 0 || ranks_below(order_[low - 1], lowest)) return;
        const auto at = std::lower_bound(order_.begin(), order_.end(), lowest, by_rank);
        low = static_cast<std::size_t>(at - order_.begin());
    };
    if (!come.empty()) reach_down_to(come.front());
    if (!gone.empty()) reach_down_to(*std::min_element(gone.begin(), gone.end(), by_rank));

    std::vector<MoveIndex> again;
    for (std::size_t i = order_.size(); i-- > low;) {
        take_back(order_[i]);
        if (moves_[order_[i]].present) again.push_back(order_[i]);
    }
    std::reverse(again.begin(), again.end());
    order_.resize(low);
    std::merge(again.begin(), again.end(), come.begin(), come.end(), std::back_inserter(order_),
               by_rank);
    for (std::size_t i = low; i < order_.size(); ++i) perform(order_[i]);

    std::vector<Placement> out;
    for (const NodeIndex index : changed_) {
        Node& node = nodes_[index];
        node.listed = false;
        if (node.move == node.reported) continue;
        node.reported = node.move;
        out.push_back(placement(history.log, index));
    }
    changed_.clear();
    return out;
}

// A node without children needs no walk, which keeps the cost of creating a deep tree independent
// of its depth.
bool TreeMoves::is_below_itself(const Move& move) const {
    if (move.parent == move.target) return true;
    if (nodes_[move.target].children == 0) return false;
    for (NodeIndex at = move.parent; at >= kFirstNode;) {
        const MoveIndex up = nodes_[at].move;
        if (up == kNoMove) return false;
        at = moves_[up].parent;
        if (at == move.target) return true;
    }
    return false;
}

// All ops of lower rank are done by then, so the cycle check sees the tree that every replica sees.
void TreeMoves::perform(MoveIndex index) {
    Move& move = moves_[index];
    move.before = nodes_[move.target].move;
    move.effective = !is_below_itself(move);
    if (move.effective) place(move.target, index);
}

// Requires that every op of higher rank was taken back, so that `before` is the place to return to.
void TreeMoves::take_back(MoveIndex index) {
    const Move& move = moves_[index];
    if (move.effective) place(move.target, move.before);
}

// Counts children, erased and root's alike; is_below_itself() asks only whether there are any.
void TreeMoves::place(NodeIndex index, MoveIndex move) {
    Node& node = nodes_[index];
    if (node.move != kNoMove) --nodes_[moves_[node.move].parent].children;
    node.move = move;
    if (move != kNoMove) ++nodes_[moves_[move].parent].children;
    if (node.listed) return;
    node.listed = true;
    changed_.push_back(index);
}

Placement TreeMoves::placement(const ContainerLog& log, NodeIndex index) const {
    const Node& node = nodes_[index];
    Placement placement{index, kNowhere, node.id, 0, 0, {}};
    if (node.move == kNoMove) return placement;
    const Move& move = moves_[node.move];
    placement.parent = move.parent;
    placement.lamport = move.lamport;
    placement.peer = move.peer;
    const OpContent& op = log.op(log.runs()[node.move]);
    if (const auto* create = std::get_if<TreeCreate>(&op)) {
        placement.position = create->position;
    } else if (const auto* moved = std::get_if<TreeMove>(&op)) {
        placement.position = moved->position;
    }
    return placement;
}

std::vector<Placement> TreeMoves::placements(const ContainerLog& log) const {
    std::vector<Placement> out;
    for (NodeIndex node = kFirstNode; node < nodes_.size(); ++node) {
        if (nodes_[node].move != kNoMove) out.push_back(placement(log, node));
    }
    return out;
}

bool TreeMoves::agrees_with(const TreeMoves& other) const {
    if (version_ != other.version_ || order_ != other.order_) return false;
    const auto decides = [](const TreeMoves& moves, const Node& node) {
        const auto at = moves.by_id_.find(node.id);
        return at == moves.by_id_.end() ? kNoMove : moves.nodes_[at->second].move;
    };
    const auto same = [&](MoveIndex index) {
        return moves_[index].effective == other.moves_[index].effective;
    };
    const auto covers = [&](const TreeMoves& a, const TreeMoves& b) {
        return std::all_of(a.nodes_.begin() + kFirstNode, a.nodes_.end(),
                           [&](const Node& node) { return decides(b, node) == node.move; });
    };
    return std::all_of(order_.begin(), order_.end(), same) && covers(*this, other) &&
           covers(other, *this);
}

void TreeMoves::check_invariants() const {
    CHECK(changed_.empty() && by_id_.size() + kFirstNode == nodes_.size());
    std::size_t present = 0;
    for (const Move& move : moves_) present += move.present ? 1U : 0U;
    CHECK(present == order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
        CHECK(moves_[order_[i]].present);
        CHECK(i == 0 || ranks_below(order_[i - 1], order_[i]));
    }
    std::vector<std::uint32_t> children(nodes_.size());
    for (NodeIndex node = kFirstNode; node < nodes_.size(); ++node) {
        const MoveIndex move = nodes_[node].move;
        CHECK(move == nodes_[node].reported);
        if (move == kNoMove) continue;
        CHECK(moves_[move].present && moves_[move].effective && moves_[move].target == node);
        ++children[moves_[move].parent];
    }
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
        CHECK(nodes_[node].children == children[node]);
}

}  // namespace quire::crdt
