// The actions that commits and imports report of a tree: each replica reports a change alike, and they
// keep a mirror of the tree.
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "crdt/doc/forest_for_test.h"

namespace quire::crdt {
namespace {

// A tree kept by actions alone; each has to be true of what those before it left.
class Shadow {
public:
    void apply(const Diff& diff) {
        for (const ContainerDiff& part : diff) {
            if (part.container != kTree) continue;
            for (const TreeAction& action : std::get<TreeDelta>(part.delta)) apply(action);
        }
    }
    std::vector<TreeNode> nodes() const {
        std::vector<TreeNode> out;
        add(out, std::nullopt, 0);
        return out;
    }

private:
    void apply(const TreeAction& action) {
        if (action.kind != TreeAction::Kind::create) {
            auto& from = children_[action.old_parent];
            ASSERT_LT(action.old_index, from.size());
            ASSERT_EQ(from[action.old_index], action.target);
            from.erase(from.begin() + static_cast<std::ptrdiff_t>(action.old_index));
        }
        if (action.kind == TreeAction::Kind::erase) {
            forget(action.target);
            return;
        }
        ASSERT_TRUE(!action.parent || positions_.contains(*action.parent));
        ASSERT_EQ(positions_.contains(action.target), action.kind == TreeAction::Kind::move);
        positions_[action.target] = action.position;
        auto& to = children_[action.parent];
        ASSERT_LE(action.index, to.size());
        to.insert(to.begin() + static_cast<std::ptrdiff_t>(action.index), action.target);
    }
    void forget(OpId node) {
        positions_.erase(node);
        for (const OpId child : children_[node]) forget(child);
        children_.erase(node);
    }
    void add(std::vector<TreeNode>& out, std::optional<OpId> parent, std::size_t depth) const {
        const auto children = children_.find(parent);
        if (children == children_.end()) return;
        for (std::size_t i = 0; i < children->second.size(); ++i) {
            const OpId id = children->second[i];
            out.push_back({id, parent, i, depth, positions_.at(id)});
            add(out, id, depth + 1);
        }
    }

    std::map<std::optional<OpId>, std::vector<OpId>> children_;
    std::map<OpId, Bytes> positions_;
};

// Replicas number nodes as they come to know them; what they tell of one change does not show it.
TEST(Tree, EveryReplicaReportsAChangeAlike) {
    Forest ada(1);
    Forest bo(2);
    const OpId of_ada = ada.create();
    const OpId of_bo = bo.create();
    std::vector<TreeDelta> told[2];
    for (const bool ada_first : {true, false}) {
        Forest one(9);
        one.pull(ada_first ? ada : bo);
        one.pull(ada_first ? bo : ada);
        const OpId below_ada = one.create(of_ada);
        const OpId below_bo = one.create(of_bo);
        const auto tell = [&] {
            const Diff diff = one.doc.commit({.want_diff = true}).diff;
            told[ada_first].push_back(std::get<TreeDelta>(diff.at(0).delta));
            EXPECT_EQ(told[ada_first].back().size(), 2U);
        };
        tell();
        EXPECT_EQ(one.move(below_ada, of_bo), "");
        EXPECT_EQ(one.move(below_bo, of_ada), "");
        tell();
        EXPECT_EQ(one.erase(below_ada), "");
        EXPECT_EQ(one.erase(below_bo), "");
        tell();
    }
    EXPECT_TRUE(told[0] == told[1]);
}

TEST(Tree, AMirrorKeptByDiffsAloneIsTheTree) {
    const char* given = std::getenv("SEED");
    const std::uint64_t first =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    const std::uint64_t runs = given != nullptr ? 1 : 60;
    for (std::uint64_t seed = first; seed < first + runs; ++seed) {
        SCOPED_TRACE("SEED=" + std::to_string(seed));
        std::mt19937_64 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
        Forest forests[] = {Forest(1), Forest(2), Forest(3)};
        Shadow shadows[3];
        for (int step = 0; step < 120; ++step) {
            const std::size_t who = below(3);
            Forest& forest = forests[who];
            const auto nodes = forest.doc.tree(forest.tree).nodes();
            const auto some = [&]() -> std::optional<OpId> {
                if (nodes.empty() || below(4) == 0) return std::nullopt;
                return nodes[below(nodes.size())].id;
            };
            const std::size_t what = below(10);
            if (what < 3 || nodes.empty()) {
                const auto parent = some();
                forest.create(parent, below(forest.doc.tree(forest.tree).child_count(parent) + 1));
            } else if (what < 7) {
                forest.move(nodes[below(nodes.size())].id, some());
            } else if (what == 7) {
                forest.erase(nodes[below(nodes.size())].id);
            } else {
                for (std::size_t i = 0; i < 3; ++i)
                    shadows[i].apply(forests[i].doc.commit({.want_diff = true}).diff);
                shadows[who].apply(forest.pull(forests[below(2)]).diff);
                if (testing::Test::HasFatalFailure()) return;
                ASSERT_EQ(shadows[who].nodes(), forest.doc.tree(forest.tree).nodes());
                check_invariants(forest.doc);
            }
        }
    }
}

}  // namespace
}  // namespace quire::crdt
