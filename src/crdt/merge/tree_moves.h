// TreeMoves: the op that decides the place of each node of a tree, at any version.
//
// A tree's ops are applied one after another in an order that all replicas share, by (lamport,
// peer); an op that would put a node below itself has no effect, and an erase is a move below
// kTreeErased. For a late op, the ops ranked above it are undone, it is applied, and they are
// applied again (Kleppmann, Mulligan, Gomes & Beresford, "A highly-available move operation for
// replicated trees", 2021, §3). Moving to another version is the same with several ops at once, so
// it costs the ops ranked above the lowest that differs.
//
// Knows parents only: the order of children, and which nodes are alive, belong to state.
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
    // Reads the ops from history; keeps only how far it has read.
    struct History {
        const AtomTable& atoms;
        const Graph& graph;
        const ContainerLog& log;
    };

    TreeMoves();

    // Moves to the version with these heads and returns the nodes whose place changed, each once.
    // For new ops above the last: O(1) each, or for a node with children O(depth of its new
    // parent). Otherwise O(ops above the lowest that differs), likewise.
    std::vector<Placement> move_to(const History& history, const Heads& version);
    // The present version, and the number of runs of the log read so far.
    const Heads& version() const { return version_; }
    std::size_t taken() const { return moves_.size(); }

    std::optional<NodeIndex> find(OpId node) const;
    OpId id_of(NodeIndex node) const { return nodes_[node].id; }
    // The run of the log that decides a node's place; nothing for a node that no op has placed.
    std::optional<std::size_t> run_of(NodeIndex node) const {
        if (nodes_[node].move == kNoMove) return std::nullopt;
        return nodes_[node].move;
    }
    // The places of all nodes that an op has placed, in no order.
    std::vector<Placement> placements(const ContainerLog& log) const;

    // Returns true if both hold the same version and found the same.
    bool agrees_with(const TreeMoves& other) const;
    void check_invariants() const;

private:
    // Indexed by the number of the run in the log.
    using MoveIndex = std::uint32_t;
    static constexpr MoveIndex kNoMove = ~MoveIndex{0};
    struct Move {
        PeerId peer = 0;
        Lamport lamport = 0;
        NodeIndex target = kNowhere;  // kNowhere: the run is no op on a node.
        NodeIndex parent = kNowhere;
        MoveIndex before = kNoMove;  // The op that decided the target's place before this one.
        bool effective = false;
        bool present = false;  // The op is in the version.
    };
    // A node that an op has named, whether any op made it or not.
    struct Node {
        OpId id;
        MoveIndex move = kNoMove;
        MoveIndex reported = kNoMove;  // The last value returned by move_to().
        std::uint32_t children = 0;    // The number of nodes that have it as parent.
        bool listed = false;           // The node is in changed_.
    };

    // Numbers the runs that the log has beyond moves_, so that a move's index is its run's.
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
    std::vector<MoveIndex> order_;  // The present ops, by rank.
    std::vector<Node> nodes_;
    std::unordered_map<OpId, NodeIndex> by_id_;
    std::vector<NodeIndex> changed_;
    Heads version_;
};

}  // namespace quire::crdt
