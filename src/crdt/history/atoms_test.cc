#include "crdt/history/atoms.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace quire::crdt {
namespace {

struct Stretch {
    Counter first;
    Lv count;
};

// A peer's atoms below `end`, cut at random, some left out, in any order.
std::vector<Stretch> scattered(std::mt19937_64& random, Counter end, Counter longest) {
    std::vector<Stretch> out;
    for (Counter at = 0; at < end;) {
        const auto len = static_cast<Counter>(1 + random() % static_cast<std::uint64_t>(longest));
        const Counter count = std::min(len, end - at);
        if (random() % 4 != 0) out.push_back({at, static_cast<Lv>(count)});
        at += count;
    }
    std::shuffle(out.begin(), out.end(), random);
    return out;
}

bool placed(AtomTable& table, PeerIndex peer, const std::vector<Stretch>& stretches, Counter end) {
    for (const Stretch& each : stretches) table.place(peer, each.first, each.count, true);
    VersionVector version;
    version.set(7, end);
    return table.end_base(version);
}

// Few stretches and many, of counters with few digits and with many.
TEST(AtomTable, ABaseIsFoundInAnyOrderOfPlacing) {
    std::mt19937_64 random(20'261'123);
    for (const Counter longest : {1, 3, 60, 900'000}) {
        for (const Counter stretches : {1, 40, 3'000}) {
            AtomTable table;
            const PeerIndex peer = table.intern(7);
            const Counter end = stretches * std::max(1, longest / 2);
            const std::vector<Stretch> made = scattered(random, end, longest);
            ASSERT_TRUE(placed(table, peer, made, end));
            Lv lv = 0;
            for (const Stretch& each : made) {
                EXPECT_EQ(table.lv_of(peer, each.first), lv);
                lv += each.count;
                EXPECT_EQ(table.lv_of(peer, each.first + static_cast<Counter>(each.count) - 1),
                          lv - 1);
            }
        }
    }
}

TEST(AtomTable, ABaseWithADuplicateAtomIsRefused) {
    std::mt19937_64 random(7);
    for (const Counter end : {50, 5'000}) {
        std::vector<Stretch> made = scattered(random, end, 2);
        made.insert(made.begin(), made.back());
        AtomTable table;
        EXPECT_FALSE(placed(table, table.intern(7), made, end));
    }
}

TEST(AtomTable, ABaseBeyondItsVersionIsRefused) {
    AtomTable table;
    EXPECT_FALSE(placed(table, table.intern(7), {{0, 3}, {5, 3}}, 7));
}

}  // namespace
}  // namespace quire::crdt
