// TreeMoves: which op decides where each node of a tree stands, at any version.
//
// A tree's ops are done one after another in the order that all replicas share, by (lamport, peer);
// one that would put a node below itself has no effect, and an erase is a move below kTreeErased.
// An op that arrives late takes back those that rank above it, is done, and they are done again
// (Kleppmann, Mulligan, Gomes & Beresford, "A highly-available move operation for replicated
// trees", 2021, §3). Moving to another version is the same with several ops at once, so it costs
// what ranks above the lowest that differs.
//
// Knows parents only: what order children have, and who is alive, is for state.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "crdt/history/container_log.h"
#include "crdt/history/graph.h"
#include "crdt/ids/placement.h"

namespace quire::crdt {

class TreeMoves {
public:
    // Reading the ops takes history; nothing of it is kept but how far it was read.
    struct History {
        const AtomTable& atoms;
        const Graph& graph;
        const ContainerLog& log;
    };

    TreeMoves();

    // Moves to the version with these heads. Returns the nodes that stand elsewhere than before,
    // each once. Nothing above the last op: O(1) for each new one, but for a node with children
    // O(depth of its new parent). Otherwise O(ops above the lowest that differs), likewise.
    std::vector<Placement> move_to(const History& history, const Heads& version);
    // The version last moved to, and how many runs of the log were ever read.
    const Heads& version() const { return version_; }
    std::size_t taken() const { return moves_.size(); }

    std::optional<NodeIndex> find(OpId node) const;
    OpId id_of(NodeIndex node) const { return nodes_[node].id; }
    // The run of the log that decides where a node stands; none for what no op has placed.
    std::optional<std::size_t> run_of(NodeIndex node) const {
        if (nodes_[node].move == kNoMove) return std::nullopt;
        return nodes_[node].move;
    }
    // Where every node stands that an op has placed, in no order.
    std::vector<Placement> placements(const ContainerLog& log) const;

    // Whether both hold the same version and found the same.
    bool agrees_with(const TreeMoves& other) const;
    void check_invariants() const;

private:
    // By number of the run in the log.
    using MoveIndex = std::uint32_t;
    static constexpr MoveIndex kNoMove = ~MoveIndex{0};
    struct Move {
        PeerId peer = 0;
        Lamport lamport = 0;
        NodeIndex target = kNowhere;  // Nowhere: the run is no op on a node.
        NodeIndex parent = kNowhere;
        MoveIndex before = kNoMove;  // What decided the target's place when this op was done.
        bool effective = false;
        bool present = false;  // In the version.
    };
    struct Node {
        OpId id;
        MoveIndex move = kNoMove;
        MoveIndex told = kNoMove;    // What move_to() last returned.
        std::uint32_t children = 0;  // How many nodes have it as their parent.
        bool listed = false;         // In changed_.
    };

    void read(const History& history);
    void flip(const History& history, const std::vector<LvSpan>& spans, bool present,
              std::vector<MoveIndex>& out);
    NodeIndex intern(OpId id);
    bool ranks_below(MoveIndex a, MoveIndex b) const;
    bool is_below_itself(const Move& move) const;
    void perform(MoveIndex index);
    void take_back(MoveIndex index);
    void place(NodeIndex index, MoveIndex move);
    Placement placement(const ContainerLog& log, NodeIndex index) const;

    std::vector<Move> moves_;
    std::vector<MoveIndex> order_;  // Those present, by rank.
    std::vector<Node> nodes_;
    std::unordered_map<OpId, NodeIndex> by_id_;
    std::vector<NodeIndex> changed_;
    Heads version_;
};

}  // namespace quire::crdt
