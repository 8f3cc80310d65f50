#include "codec/state_columns.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace quire::codec {
namespace {

struct Atoms {
    crdt::OpId first;
    crdt::Counter size;
};

bool overlap(const std::vector<Atoms>& all) {
    AtomRuns runs;
    for (const Atoms& each : all) runs.add(each.first, each.size);
    return runs.overlap();
}

TEST(AtomRuns, InOrderOrNotSideBySideIsNotTwice) {
    EXPECT_FALSE(overlap({}));
    EXPECT_FALSE(overlap({{{1, 0}, 5}, {{1, 5}, 1}, {{1, 6}, 9}}));
    EXPECT_FALSE(overlap({{{1, 6}, 9}, {{1, 0}, 5}, {{1, 5}, 1}}));
    EXPECT_FALSE(overlap({{{1, 0}, 5}, {{2, 0}, 5}}));
    EXPECT_TRUE(overlap({{{1, 0}, 6}, {{1, 5}, 1}}));
    EXPECT_TRUE(overlap({{{1, 5}, 1}, {{1, 0}, 6}}));
    EXPECT_TRUE(overlap({{{1, 2}, 1}, {{2, 2}, 1}, {{1, 2}, 1}}));
}

TEST(AtomRuns, TheLargestCountersAreHeldApart) {
    const crdt::Counter most = 0x7fff'fffe;
    EXPECT_FALSE(overlap({{{1, most}, 1}, {{1, 0}, most}}));
    EXPECT_TRUE(overlap({{{1, most}, 1}, {{1, 0}, 1}, {{1, most}, 1}}));
    EXPECT_TRUE(overlap({{{1, most - 70}, 71}, {{1, 3}, most - 72}, {{1, most - 70}, 1}}));
}

// Beside a set of all atoms: far apart, and so close that a bit for each is the shorter way.
TEST(AtomRuns, RandomOnesAreFoundAsAtomsAre) {
    std::mt19937_64 random(20'261'123);
    int found = 0;
    for (int round = 0; round < 4'000; ++round) {
        const std::uint64_t range = std::vector<std::uint64_t>{20, 300, 100'000}[random() % 3];
        const std::uint64_t longest = std::vector<std::uint64_t>{1, 3, 130}[random() % 3];
        std::vector<Atoms> all;
        std::set<crdt::Counter> seen;
        bool twice = false;
        for (std::uint64_t i = random() % 12; i-- > 0;) {
            const Atoms made{{1, static_cast<crdt::Counter>(random() % range)},
                             static_cast<crdt::Counter>(1 + random() % longest)};
            for (crdt::Counter at = 0; at < made.size; ++at)
                twice = !seen.insert(made.first.counter + at).second || twice;
            all.push_back(made);
        }
        EXPECT_EQ(overlap(all), twice);
        found += twice ? 1 : 0;
    }
    EXPECT_GT(found, 500);
    EXPECT_LT(found, 3'500);
}

}  // namespace
}  // namespace quire::codec
