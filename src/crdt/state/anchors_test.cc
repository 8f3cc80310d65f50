// Anchors against a string in which '|' is an anchor that holds text back, '!' one that does not.
#include "crdt/state/anchors.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace quire::crdt {
namespace {

bool is_anchor(char c) {
    return c != 'x';
}

struct Pair {
    Anchors anchors;
    std::string line;
    std::vector<Anchors::Node> nodes;  // In order.

    void insert(std::size_t at, std::size_t len) {
        anchors.make_room(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(len));
        line.insert(at, len, 'x');
    }
    void add(std::size_t at, bool holds_back) {
        const auto rank =
            std::count_if(line.begin(), line.begin() + static_cast<long>(at), is_anchor);
        nodes.insert(nodes.begin() + rank, anchors.add(static_cast<std::uint32_t>(at), holds_back));
        line.insert(at, 1, holds_back ? '|' : '!');
    }
    void erase(std::size_t at, std::size_t len) {
        const auto first = line.begin() + static_cast<long>(at);
        const auto rank = std::count_if(line.begin(), first, is_anchor);
        const auto gone = std::count_if(first, first + static_cast<long>(len), is_anchor);
        nodes.erase(nodes.begin() + rank, nodes.begin() + rank + gone);
        anchors.erase(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(len));
        line.erase(at, len);
    }

    void check() const {
        anchors.check_invariants();
        ASSERT_EQ(anchors.size(), nodes.size());
        std::uint32_t characters = 0;
        std::size_t rank = 0;
        std::size_t caret = 0;  // The first entity of the next character's place.
        Anchors::Node node = anchors.first();
        for (std::size_t i = 0; i <= line.size(); ++i) {
            const auto entity = static_cast<std::uint32_t>(i);
            ASSERT_EQ(anchors.code_point(entity), characters) << line << " " << i;
            if (i < line.size() && is_anchor(line[i])) {
                ASSERT_EQ(node, nodes[rank]);
                ASSERT_EQ(anchors.rank(node), rank);
                ASSERT_EQ(anchors.characters_before(node), characters);
                ASSERT_EQ(anchors.at_entity(entity), node);
                if (rank > 0) {
                    ASSERT_TRUE(anchors.earlier(nodes[rank - 1], node));
                    ASSERT_FALSE(anchors.earlier(node, nodes[rank - 1]));
                }
                node = anchors.next(node);
                ++rank;
                continue;
            }
            // All anchors beside this place have gone by.
            const std::size_t bar = line.find('|', caret);
            ASSERT_EQ(anchors.insertion(characters), std::min(bar, i)) << line << " " << characters;
            if (i < line.size()) {
                ASSERT_EQ(anchors.character(characters), i) << line;
            }
            ++characters;
            caret = i + 1;
        }
        ASSERT_EQ(node, Anchors::kNone);
    }
};

TEST(Anchors, RandomEditsAgreeWithAString) {
    const char* given = std::getenv("SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("SEED=%llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    for (int run = 0; run < 60; ++run) {
        Pair pair;
        for (int step = 0; step < 120; ++step) {
            const std::size_t size = pair.line.size();
            const std::size_t at = below(size + 1);
            switch (below(6)) {
                case 0:
                    pair.insert(at, 1 + below(3));
                    break;
                case 1:
                    if (at < size) pair.erase(at, 1 + below(std::min<std::size_t>(size - at, 8)));
                    break;
                default:
                    pair.add(at, below(2) == 0);
            }
            pair.check();
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(Anchors, StayInOrderHoweverOneSidedTheyCome) {
    for (const std::uint32_t entity : {0U, 1U}) {
        Anchors anchors;
        anchors.add(0, true);
        for (int i = 0; i < 3000; ++i) anchors.add(entity, i % 2 == 0);
        anchors.check_invariants();
        for (int i = 0; i < 2900; ++i) anchors.erase(entity, 1);
        anchors.check_invariants();
        EXPECT_EQ(anchors.size(), 101U);
    }
}

}  // namespace
}  // namespace quire::crdt
