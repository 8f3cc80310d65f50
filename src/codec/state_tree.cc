// Nodes are written live ones first, siblings together and then the children of each. A parent is
// the number of its row, so a reader takes nodes in any order and then checks that no node is its
// own ancestor: O(n), by marking the paths that were followed.
//
// Ids, parents and moves are columns of runs, which a few bytes can make long. The positions take a
// byte a row at least, so the rows are counted and charged by them.
#include "codec/state_tree.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/check.h"
#include "base/varint.h"

namespace quire::codec {
namespace {

constexpr std::uint64_t kRootParent = 0;
constexpr std::uint64_t kDeletedParent = 1;
constexpr std::uint64_t kFirstParent = 2;

// Returns true when following parents from some row never ends. `parents` as they are on the wire.
// Each row is marked twice at most: when a path comes by, and when that path is known to end.
bool has_cycle(const std::vector<std::uint64_t>& parents) {
    enum class Mark : std::uint8_t { unseen, on_path, ends };
    std::vector<Mark> marks(parents.size(), Mark::unseen);
    for (std::size_t start = 0; start < parents.size(); ++start) {
        std::size_t row = start;
        while (marks[row] == Mark::unseen) {
            marks[row] = Mark::on_path;
            if (parents[row] < kFirstParent) break;
            row = parents[row] - kFirstParent;
            if (marks[row] == Mark::on_path) return true;
        }
        for (row = start; marks[row] == Mark::on_path; row = parents[row] - kFirstParent) {
            marks[row] = Mark::ends;
            if (parents[row] < kFirstParent) break;
        }
    }
    return false;
}

// The columns of a tree's state, in the order in which they stand in the bytes: members are
// initialised in that order, and each takes its part out of `in`.
struct Columns {
    Columns(ByteReader& in, const std::vector<crdt::PeerId>& peers)
        : id_peers_in(
              (expect_shape(in, 2, "shape of a tree's ids"), read_column(in, "peers of nodes"))),
          id_counters_in(read_column(in, "counters of nodes")),
          parents_in((expect_shape(in, 5, "shape of a tree's nodes"),
                      read_column(in, "parents of nodes"))),
          moves(in, peers),
          positions_in(read_column(in, "positions of nodes")),
          id_peers(id_peers_in, 0, INT32_MAX, "peer of a node"),
          id_counters(id_counters_in, 0, kMaxCounter, "counter of a node"),
          parents(parents_in, 0, INT32_MAX, "parent of a node") {}

    bool ok() const {
        return id_peers_in.ok() && id_counters_in.ok() && parents_in.ok() && moves.ok() &&
               positions_in.ok();
    }
    void finish(ByteReader& in) {
        if (ok() && !(id_peers.at_end() && id_counters.at_end() && parents.at_end() &&
                      positions_in.at_end())) {
            positions_in.fail("number of nodes");
        }
        for (const ByteReader* part : {&id_peers_in, &id_counters_in, &parents_in, &positions_in})
            in.adopt(*part);
        moves.finish(in);
    }

    ByteReader id_peers_in, id_counters_in, parents_in;
    AtomReader moves;
    ByteReader positions_in;
    DeltaRleReader id_peers, id_counters, parents;
};

}  // namespace

TreeState read_tree_state(ByteReader& in, Budget& budget) {
    TreeState state;
    Tables tables;
    tables.peers = read_state_peers(in, budget);
    expect_shape(in, 4, "shape of a tree's state");
    Columns columns(in, tables.peers);
    ByteReader positions = read_column(in, "positions");
    read_column(in, "what once said which moves had an effect");
    if (!in.at_end()) in.fail("end of a tree's state");
    read_positions(positions, tables, budget);
    in.adopt(positions);
    if (!in.ok()) return state;

    // The only column in which each row takes a byte; the others may be runs.
    ByteReader& rows_in = columns.positions_in;
    const std::uint64_t rows = read_uleb(rows_in, rows_in.remaining(), "number of nodes");
    constexpr std::size_t kScratch = sizeof(std::uint64_t) + 1 + sizeof(crdt::OpId);
    if (!budget.take_heap(rows * (sizeof(TreeNode) + kScratch)))
        rows_in.fail("number of nodes (too many for their size)");
    std::vector<std::uint64_t> parents;
    if (rows_in.ok()) {
        state.nodes.reserve(rows);
        parents.reserve(rows);
    }
    for (std::uint64_t i = 0; i < rows && columns.ok(); ++i) {
        TreeNode& node = state.nodes.emplace_back();
        node.id.peer =
            tables.peer(columns.id_peers_in, static_cast<std::uint64_t>(columns.id_peers.next()),
                        "peer of a node");
        node.id.counter = static_cast<crdt::Counter>(columns.id_counters.next());
        parents.push_back(static_cast<std::uint64_t>(columns.parents.next()));
        // A parent may be a later row.
        if (parents.back() >= rows + kFirstParent) columns.parents_in.fail("parent of a node");
        node.last_move = columns.moves.next();
        const std::uint64_t position = read_uleb(rows_in, "position of a node");
        if (position >= tables.positions.size()) {
            rows_in.fail("position of a node");
        } else if (!budget.take_heap(tables.positions[position].size())) {
            rows_in.fail("positions of nodes (too large for their input)");
        } else {
            // Many nodes may name one long position, so each copy is charged.
            node.position = tables.positions[position];
        }
    }
    columns.finish(in);
    if (!in.ok()) return state;

    for (std::size_t i = 0; i < parents.size(); ++i) {
        if (parents[i] == kDeletedParent) state.nodes[i].parent = kDeletedTreeRoot;
        if (parents[i] >= kFirstParent)
            state.nodes[i].parent = state.nodes[parents[i] - kFirstParent].id;
    }
    if (has_cycle(parents)) in.fail("parents of nodes (a node is its own ancestor)");
    // Their memory was charged above, with the other scratch memory of the rows.
    std::vector<crdt::OpId> ids;
    ids.reserve(rows);
    for (const TreeNode& node : state.nodes) ids.push_back(node.id);
    std::sort(ids.begin(), ids.end());
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end())
        in.fail("nodes of a tree (one is there twice)");
    budget.give_back(rows * kScratch);
    return state;
}

namespace {

// The order in which nodes are written, and with it the row of each.
class Order {
public:
    explicit Order(const std::vector<TreeNode>& nodes) {
        for (const TreeNode& node : nodes) {
            if (!node.parent) {
                roots_.push_back(&node);
            } else if (*node.parent == kDeletedTreeRoot) {
                deleted_.push_back(&node);
            } else {
                children_[*node.parent].push_back(&node);
            }
        }
        rows_.reserve(nodes.size());
        add(roots_);
        add(deleted_);
        CHECK(rows_.size() ==
              nodes.size());  // Else a parent is not there, or a node is its own ancestor.
        for (std::size_t i = 0; i < rows_.size(); ++i) row_of_[rows_[i]->id] = i;
        CHECK(row_of_.size() == rows_.size());
    }

    const std::vector<const TreeNode*>& rows() const { return rows_; }
    std::uint64_t parent(const TreeNode& node) const {
        if (!node.parent) return kRootParent;
        if (*node.parent == kDeletedTreeRoot) return kDeletedParent;
        return row_of_.at(*node.parent) + kFirstParent;
    }

private:
    using Siblings = std::vector<const TreeNode*>;

    static bool before(const TreeNode* a, const TreeNode* b) {
        const auto key = [](const TreeNode* node) {
            return std::tuple(as_text(node->position), node->last_move.lamport,
                              node->last_move.id.peer);
        };
        return key(a) < key(b);
    }

    // Trees may be deep, so the stack is our own: nodes whose children are still to be written,
    // last first.
    void add(Siblings& top) {
        std::vector<const TreeNode*> stack;
        const auto add_group = [&](Siblings& group) {
            std::sort(group.begin(), group.end(), before);
            rows_.insert(rows_.end(), group.begin(), group.end());
            stack.insert(stack.end(), group.rbegin(), group.rend());
        };
        add_group(top);
        while (!stack.empty()) {
            const auto group = children_.find(stack.back()->id);
            stack.pop_back();
            if (group != children_.end()) add_group(group->second);
        }
    }

    Siblings roots_;
    Siblings deleted_;
    std::unordered_map<crdt::OpId, Siblings> children_;
    std::vector<const TreeNode*> rows_;
    std::unordered_map<crdt::OpId, std::size_t> row_of_;
};

void write_position_table(ByteWriter& out, const Registers& registers) {
    ByteWriter table;
    write_positions(table, registers);
    if (table.empty()) {
        // Unlike in a block, no positions are not no bytes.
        constexpr std::uint8_t kNone[] = {1, 2, 0, 1, 0};
        table.append(kNone);
    }
    write_sized(out, table.bytes());
}

}  // namespace

void write_tree_state(ByteWriter& out, const TreeState& state) {
    const Order order(state.nodes);
    Registers registers;
    registers.positions.reserve(state.nodes.size());
    for (const TreeNode& node : state.nodes) registers.positions.push_back(as_text(node.position));
    std::sort(registers.positions.begin(), registers.positions.end());
    registers.positions.erase(std::unique(registers.positions.begin(), registers.positions.end()),
                              registers.positions.end());

    ByteWriter id_peers_out, id_counters_out, parents_out, positions_out;
    DeltaRleWriter id_peers(id_peers_out), id_counters(id_counters_out), parents(parents_out);
    AtomWriter moves(registers.peers);
    write_uleb(positions_out, state.nodes.size());
    // All of the nodes' peers are numbered before those of their moves.
    for (const TreeNode* node : order.rows()) {
        id_peers.append(registers.peers.add(node->id.peer));
        id_counters.append(node->id.counter);
    }
    for (const TreeNode* node : order.rows()) {
        parents.append(static_cast<std::int64_t>(order.parent(*node)));
        moves.append(node->last_move);
        write_uleb(positions_out, registers.position(node->position));
    }
    id_peers.finish();
    id_counters.finish();
    parents.finish();

    write_state_peers(out, registers.peers);
    write_uleb(out, 4);
    write_uleb(out, 2);
    write_sized(out, id_peers_out.bytes());
    write_sized(out, id_counters_out.bytes());
    write_uleb(out, 5);
    write_sized(out, parents_out.bytes());
    moves.write_columns(out);
    write_sized(out, positions_out.bytes());
    write_position_table(out, registers);
    write_uleb(out, 0);
}

}  // namespace quire::codec
