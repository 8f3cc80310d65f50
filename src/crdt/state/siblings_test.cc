// The order of siblings against a plain vector, and its depth by the comparisons of an insert.
#include "crdt/state/siblings.h"

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"

namespace quire::crdt {
namespace {

constexpr NodeIndex kParent = 0;

// The most comparisons that an insert takes, of nodes with numbers that count up and these places.
std::size_t most_comparisons(const std::vector<std::uint64_t>& places) {
    Siblings siblings;
    siblings.make_room(places.size() + 1);
    std::size_t most = 0;
    for (NodeIndex node = 1; node <= places.size(); ++node) {
        std::size_t count = 0;
        siblings.insert(kParent, node, [&](NodeIndex a, NodeIndex b) {
            ++count;
            return places[a - 1] < places[b - 1];
        });
        most = std::max(most, count);
    }
    siblings.check_invariants(kParent);
    return most;
}

// Stafford's variant of MurmurHash3's finisher, a hash that anybody can compute.
std::uint64_t known_hash(std::uint64_t number) {
    number += std::uint64_t{0x9E3779B97F4A7C15};
    number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9;
    number = (number ^ (number >> 27U)) * 0x94D049BB133111EB;
    return number ^ (number >> 31U);
}

TEST(Siblings, NoOrderThatAPeerChoosesMakesThemDeep) {
    constexpr std::uint64_t kCount = 4096;
    // The logarithm of 4097 to the base 4/3, and a look at both ends.
    constexpr std::size_t kDeepest = 29 + 2;
    const std::vector<std::function<std::uint64_t(std::uint64_t)>> orders = {
        [](std::uint64_t node) { return node; }, [](std::uint64_t node) { return kCount - node; },
        [](std::uint64_t node) { return node % 2 == 0 ? node : 2 * kCount - node; }, known_hash,
        [](std::uint64_t node) { return ~known_hash(node); }};
    for (const auto& place_of : orders) {
        std::vector<std::uint64_t> places;
        for (std::uint64_t node = 1; node <= kCount; ++node) places.push_back(place_of(node));
        EXPECT_LE(most_comparisons(places), kDeepest);
    }
}

TEST(Siblings, KeepTheOrderThroughRandomMoves) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937 random(seed);
    constexpr NodeIndex kParents = 2;
    for (int round = 0; round < 50; ++round) {
        const auto count = static_cast<NodeIndex>(1 + random() % 120);
        Siblings siblings;
        siblings.make_room(kParents + count);
        std::vector<std::uint32_t> places(kParents + count);
        std::vector<std::vector<NodeIndex>> expected(kParents);
        const auto before = [&](NodeIndex a, NodeIndex b) { return places[a] < places[b]; };
        const auto erase = [&](NodeIndex parent, NodeIndex node) {
            std::vector<NodeIndex>& children = expected[parent];
            const auto at = std::find(children.begin(), children.end(), node);
            if (at == children.end()) return false;
            siblings.erase(parent, node);
            children.erase(at);
            return true;
        };
        for (int step = 0; step < 300; ++step) {
            const auto node = static_cast<NodeIndex>(kParents + random() % count);
            if (!erase(0, node) && !erase(1, node)) {
                const auto parent = static_cast<NodeIndex>(random() % kParents);
                std::vector<NodeIndex>& children = expected[parent];
                places[node] = static_cast<std::uint32_t>(random() % 1000) * 100 + node;
                siblings.insert(parent, node, before);
                children.insert(std::upper_bound(children.begin(), children.end(), node, before),
                                node);
            }
            for (NodeIndex parent = 0; parent < kParents; ++parent) {
                siblings.check_invariants(parent);
                std::vector<NodeIndex> walked;
                for (NodeIndex at = siblings.first(parent); at != kNowhere; at = siblings.next(at))
                    walked.push_back(at);
                ASSERT_EQ(walked, expected[parent]);
            }
        }
    }
}

}  // namespace
}  // namespace quire::crdt
