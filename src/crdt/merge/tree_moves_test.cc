#include "crdt/merge/tree_moves.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace quire::crdt {
namespace {

// A history of tree ops by several peers, and the naive tree of any version of it.
class History {
public:
    explicit History(std::uint64_t seed) : random_(seed) {}

    // One op after some of what is known.
    void add() {
        std::vector<Lv> some;
        for (std::size_t n = below(3) + 1; n > 0 && graph_.end() > 0; --n)
            some.push_back(static_cast<Lv>(below(graph_.end())));
        const PeerIndex peer = atoms_.intern(below(4) + 1);
        if (const Counter end = atoms_.end_of(peer); end > 0)
            some.push_back(*atoms_.lv_of({atoms_.peer(peer), end - 1}));
        const Heads parents = graph_.minimal(std::move(some));
        const OpId id{atoms_.peer(peer), atoms_.end_of(peer)};
        const Lv lv = graph_.end();
        const auto node = [&] { return OpId{below(4) + 1, static_cast<Counter>(below(6))}; };
        const auto parent = [&] { return below(4) == 0 ? std::nullopt : std::optional(node()); };
        OpContent op = TreeErase{node()};
        if (below(3) == 0) op = TreeCreate{id, parent(), {}};
        if (below(2) == 0) op = TreeMove{node(), parent(), {}};
        log_.keep({.lv = lv}, RunKind::other, std::move(op));
        atoms_.append(peer, 1);
        graph_.append(parents, 1);
    }

    Heads some_version() {
        Heads heads;
        for (std::size_t n = below(3) + 1; n > 0; --n)
            heads.push_back(static_cast<Lv>(below(graph_.end())));
        return graph_.minimal(std::move(heads));
    }
    TreeMoves::History view() const { return {atoms_, graph_, log_}; }

    // Node to parent; none is the root, nobody is where erased nodes go.
    using Parents = std::map<OpId, std::optional<OpId>>;
    static constexpr OpId kGone{kNoPeer, 0};
    Parents naive(const Heads& version) const {
        std::map<std::pair<Lamport, PeerId>, Lv> order;
        for (Lv lv = 0; lv < graph_.end(); ++lv) {
            if (graph_.contains(version, lv)) order[{graph_.lamport(lv), atoms_.peer_of(lv)}] = lv;
        }
        Parents parents;
        for (const auto& [rank, lv] : order) {
            const OpContent& op = log_.op(log_.runs()[lv]);
            const auto* create = std::get_if<TreeCreate>(&op);
            const auto* move = std::get_if<TreeMove>(&op);
            const auto* erase = std::get_if<TreeErase>(&op);
            const OpId target = create != nullptr ? create->target
                                : move != nullptr ? move->target
                                                  : erase->target;
            const std::optional<OpId> parent = create != nullptr ? create->parent
                                               : move != nullptr ? move->parent
                                                                 : kGone;
            std::optional<OpId> up = parent;
            while (up && *up != target) up = parents.contains(*up) ? parents.at(*up) : std::nullopt;
            if (!up) parents[target] = parent;
        }
        return parents;
    }

private:
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

    std::mt19937_64 random_;
    AtomTable atoms_;
    Graph graph_;
    ContainerLog log_{ContainerKind::tree};
};

// The effects reported along the way, in terms of the naive tree.
class Told {
public:
    void take(const TreeMoves& moves, const std::vector<Placement>& placements) {
        std::set<NodeIndex> once;
        for (const Placement& placement : placements) {
            EXPECT_TRUE(once.insert(placement.node).second);
            EXPECT_EQ(moves.id_of(placement.node), placement.id);
            if (placement.parent == kNowhere) {
                parents_.erase(placement.id);
            } else if (placement.parent == kTreeRoot) {
                parents_[placement.id] = std::nullopt;
            } else if (placement.parent == kTreeErased) {
                parents_[placement.id] = History::kGone;
            } else {
                parents_[placement.id] = moves.id_of(placement.parent);
            }
        }
    }
    const History::Parents& parents() const { return parents_; }

private:
    History::Parents parents_;
};

TEST(TreeMoves, MatchAReplayAtAnyVersion) {
    const char* given = std::getenv("SEED");
    const std::uint64_t first =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    for (std::uint64_t seed = first; seed < first + (given != nullptr ? 1 : 40); ++seed) {
        SCOPED_TRACE("SEED=" + std::to_string(seed));
        History history(seed);
        TreeMoves moves;
        Told told;
        for (int round = 0; round < 30; ++round) {
            for (int i = 0; i < 4; ++i) history.add();
            const Heads version = history.some_version();
            told.take(moves, moves.move_to(history.view(), version));
            moves.check_invariants();
            ASSERT_EQ(told.parents(), history.naive(version));

            TreeMoves fresh;
            fresh.move_to(history.view(), version);
            ASSERT_TRUE(moves.agrees_with(fresh) || moves.taken() != fresh.taken());
        }
    }
}

}  // namespace
}  // namespace quire::crdt
