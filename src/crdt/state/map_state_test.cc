// The winners of keys, against a table that keeps all writes: few keys and many, in any order.
#include "crdt/state/map_state.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace quire::crdt {
namespace {

using Write = MapState::Write;

bool same(const Write& a, const Write& b) {
    return a.lv == b.lv && a.lamport == b.lamport && a.peer == b.peer && a.erases == b.erases;
}

// All writes of an entry, the oldest first.
std::vector<std::uint32_t> writes_of(const MapState::Entry& entry) {
    std::vector<std::uint32_t> writes = {entry.winner.lv};
    if (entry.others != nullptr) {
        for (const Write& write : *entry.others) writes.push_back(write.lv);
    }
    std::sort(writes.begin(), writes.end());
    return writes;
}

TEST(MapState, AKeyThatWasNeverWrittenHasNoEntry) {
    MapState state;
    EXPECT_EQ(state.find("a"), nullptr);
    EXPECT_TRUE(state.apply("b", {1, 1, 1, false}));
    EXPECT_EQ(state.find("a"), nullptr);
    EXPECT_EQ(state.find("c"), nullptr);
    EXPECT_EQ(state.find("b")->others, nullptr);
}

TEST(MapState, HoldsWhatATableOfAllWritesHolds) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        // Maps below, at and above the number of keys at which they become hash tables.
        const std::size_t keys = 1 + random() % 40;
        MapState state;
        std::map<std::string, std::vector<Write>> table;
        // Every other map first gets keys that come in order.
        const std::uint32_t in_order = seed % 2 == 0 ? static_cast<std::uint32_t>(keys) : 0;
        for (std::uint32_t lv = 0; lv < 200; ++lv) {
            const std::size_t number = lv < in_order ? 100 + lv : 100 + random() % keys;
            const std::string key = "key" + std::to_string(number);
            if (random() % 50 == 0) {
                ASSERT_EQ(state.find(key) == nullptr, table.find(key) == table.end());
                ASSERT_EQ(state.find("keys"), nullptr);
            }
            if (random() % 50 == 0) state.for_each([](const auto&, const auto&) {});
            const Write write{lv, static_cast<Lamport>(random() % 50), lv, random() % 4 == 0};
            std::vector<Write>& all = table[key];
            bool wins = true;
            for (const Write& before : all) wins = wins && before.loses_to(write);
            all.push_back(write);
            ASSERT_EQ(state.apply(key, write), wins);
        }
        auto expected = table.begin();
        state.for_each([&](const std::string& key, const MapState::Entry& entry) {
            ASSERT_NE(expected, table.end());
            ASSERT_EQ(key, expected->first);
            std::vector<std::uint32_t> lvs;
            Write winner = expected->second.front();
            for (const Write& write : expected->second) {
                lvs.push_back(write.lv);
                if (winner.loses_to(write)) winner = write;
            }
            ASSERT_EQ(writes_of(entry), lvs);
            ASSERT_TRUE(same(entry.winner, winner));
            ASSERT_EQ(state.find(key), &entry);
            ++expected;
        });
        ASSERT_EQ(expected, table.end());
        state.clear();
        ASSERT_EQ(state.find(table.begin()->first), nullptr);
    }
}

}  // namespace
}  // namespace quire::crdt
