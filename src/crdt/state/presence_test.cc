// Presence against its rules: later writes win, old ones vanish, clocks may be wrong.
#include "crdt/state/presence.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace quire::crdt {
namespace {

constexpr std::int64_t kTimeout = 1000;

TEST(Presence, ShowsWhatWasSetUntilItIsTooOld) {
    Presence presence(kTimeout);
    presence.set("ada", 1, 100);
    presence.set("bob", 2, 600);
    EXPECT_EQ(presence.states(1100), (Map{{"ada", 1}, {"bob", 2}}));
    EXPECT_EQ(presence.states(1101), (Map{{"bob", 2}}));
    EXPECT_TRUE(presence.entries(1601).empty());
}

TEST(Presence, AnErasedKeyIsSentAndNotShown) {
    Presence presence(kTimeout);
    presence.set("ada", 1, 100);
    presence.erase("ada", 200);
    EXPECT_TRUE(presence.states(200).empty());
    const PresenceEntries sent = presence.entries(200, "ada");
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_FALSE(sent.begin()->second.value);
    EXPECT_TRUE(presence.entries(200, "nobody").empty());
}

TEST(Presence, TheLaterWriteWinsWhateverTheOrder) {
    for (const bool reversed : {false, true}) {
        Presence presence(kTimeout);
        PresenceEntries early{{"k", {Value(1), 100}}};
        PresenceEntries late{{"k", {Value(2), 101}}};
        presence.merge(reversed ? late : early, 150);
        presence.merge(reversed ? early : late, 150);
        EXPECT_EQ(presence.states(150), (Map{{"k", 2}}));
    }
}

TEST(Presence, OfTwoWritesWithOneTimeTheFirstStays) {
    Presence presence(kTimeout);
    presence.merge({{"k", {Value(1), 100}}}, 100);
    presence.merge({{"k", {std::nullopt, 100}}}, 100);
    EXPECT_EQ(presence.states(100), (Map{{"k", 1}}));
}

TEST(Presence, AnOldEntryIsNotTakenIn) {
    Presence presence(kTimeout);
    presence.merge({{"k", {Value(1), 100}}}, 1101);
    EXPECT_TRUE(presence.entries(1101).empty());
    // Nor does one of ours that has gone old keep others out.
    presence.set("j", 1, 0);
    presence.merge({{"j", {Value(2), 1500}}}, 1500);
    EXPECT_EQ(presence.states(1500), (Map{{"j", 2}}));
}

TEST(Presence, OurOwnWriteIsLaterThanWhatAClockThatIsAheadWrote) {
    Presence ours(kTimeout);
    ours.merge({{"k", {Value(1), 90'000}}}, 100);
    ours.set("k", 2, 200);
    Presence theirs(kTimeout);
    theirs.merge({{"k", {Value(1), 90'000}}}, 90'000);
    theirs.merge(ours.entries(200), 90'000);
    EXPECT_EQ(theirs.states(90'000), (Map{{"k", 2}}));
    // Two writes within one millisecond are two.
    ours.set("k", 3, 200);
    theirs.merge(ours.entries(200), 90'000);
    EXPECT_EQ(theirs.states(90'000), (Map{{"k", 3}}));
}

TEST(Presence, TimesAtTheEndsOfTimeDoNotOverflow) {
    constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
    Presence presence(kTimeout);
    presence.merge({{"past", {Value(1), kFirst}}, {"future", {Value(2), kLast}}}, 100);
    EXPECT_EQ(presence.states(100), (Map{{"future", 2}}));
    presence.set("future", 3, 100);
    EXPECT_EQ(presence.states(100), (Map{{"future", 3}}));
    EXPECT_EQ(presence.states(kFirst), (Map{{"future", 3}}));
}

}  // namespace
}  // namespace quire::crdt
