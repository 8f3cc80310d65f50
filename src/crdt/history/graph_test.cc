#include "crdt/history/graph.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace quire::crdt {
namespace {

std::set<Lv> ancestors(const Graph& graph, const Heads& heads) {
    std::set<Lv> seen;
    std::vector<Lv> stack = heads;
    while (!stack.empty()) {
        const Lv lv = stack.back();
        stack.pop_back();
        if (!seen.insert(lv).second) continue;
        for (const Lv parent : graph.parents_of(lv)) stack.push_back(parent);
    }
    return seen;
}

// Adjacent spans may be one or two.
std::set<Lv> atoms_of(const std::vector<LvSpan>& spans) {
    std::set<Lv> atoms;
    for (const LvSpan& span : spans) {
        for (Lv lv = span.begin; lv < span.end; ++lv) EXPECT_TRUE(atoms.insert(lv).second);
    }
    return atoms;
}

TEST(Graph, ALamportIsOneMoreThanTheLargestParentsOrZero) {
    Graph graph;
    graph.append({}, 3);
    graph.append({}, 2);
    graph.append(std::vector<Lv>{1, 4}, 2);

    EXPECT_EQ(graph.lamport(2), 2U);
    EXPECT_EQ(graph.lamport(3), 0U);
    EXPECT_EQ(graph.lamport(5), 2U);
    EXPECT_EQ(graph.lamport(6), 3U);
    EXPECT_EQ(graph.parents_of(6), Heads{5});
    EXPECT_EQ(graph.parents_of(5), (Heads{1, 4}));
}

TEST(Graph, ParentsMayPointIntoTheMiddleOfARun) {
    Graph graph;
    graph.append({}, 10);
    graph.append(std::vector<Lv>{4}, 5);
    Difference difference;

    graph.diff(Heads{9}, Heads{14}, difference);

    EXPECT_EQ(difference.only_a, (std::vector<LvSpan>{{5, 10}}));
    EXPECT_EQ(difference.only_b, (std::vector<LvSpan>{{10, 15}}));
    EXPECT_TRUE(graph.contains(Heads{14}, 4));
    EXPECT_FALSE(graph.contains(Heads{14}, 5));
    EXPECT_EQ(graph.minimal({2, 14, 4}), Heads{14});
}

TEST(Graph, RandomVersionsDifferAsTheirSetsDo) {
    const char* given = std::getenv("SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<Lv>(random() % n); };
    for (int round = 0; round < 30; ++round) {
        Graph graph;
        const auto some_heads = [&] {
            Heads heads;
            for (Lv i = below(3) + (graph.end() > 0 ? 1U : 0U); i > 0 && graph.end() > 0; --i) {
                heads.push_back(below(3) == 0 ? graph.end() - 1 : below(graph.end()));
            }
            return graph.minimal(std::move(heads));
        };
        for (int i = 0; i < 30; ++i) graph.append(some_heads(), below(4) + 1);
        graph.check_invariants();
        for (int i = 0; i < 50; ++i) {
            const Heads a = some_heads();
            const Heads b = some_heads();
            const std::set<Lv> in_a = ancestors(graph, a);
            const std::set<Lv> in_b = ancestors(graph, b);
            std::set<Lv> only_a;
            std::set<Lv> only_b;
            std::set_difference(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                                std::inserter(only_a, only_a.end()));
            std::set_difference(in_b.begin(), in_b.end(), in_a.begin(), in_a.end(),
                                std::inserter(only_b, only_b.end()));
            Difference difference;
            graph.diff(a, b, difference);
            ASSERT_EQ(atoms_of(difference.only_a), only_a);
            ASSERT_EQ(atoms_of(difference.only_b), only_b);
            const Lv target = below(graph.end());
            ASSERT_EQ(graph.contains(a, target), in_a.contains(target));
        }
    }
}

}  // namespace
}  // namespace quire::crdt
