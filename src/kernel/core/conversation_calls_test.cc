// Calls on conversations: marks, pairs of tool_call and tool_result, forks; and cursors in blocks.
#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/words_for_test.h"
#include "kernel/core/desk_test.h"

namespace quire::kernel {
namespace {

using conversation::Kind;

Result<BlockVersion> mark(Desk& desk, const std::string& id, MarkChange change,
                          const std::string& by = "ada") {
    return desk.ask<BlockVersion>(
        [&](auto reply) { desk.kernel->mark(Desk::as(by), id, change, std::move(reply)); });
}
Result<BlockVersion> create(Desk& desk, Kind kind, std::optional<std::string> parent = {},
                            const std::string& content = "") {
    return desk.ask<BlockVersion>([&](auto reply) {
        BlockCreate what;
        what.kind = kind;
        what.parent_id = std::move(parent);
        what.content = content;
        desk.kernel->create(Desk::as("ada"), what, std::move(reply));
    });
}
std::vector<BlockInfo> list(Desk& desk, const std::string& conversation = "main") {
    ListQuery query;
    query.conversation = conversation;
    query.depth = 0;
    return desk
        .ask<ListPage>(
            [&](auto reply) { desk.kernel->list(Desk::as("ada"), query, std::move(reply)); })
        ->blocks;
}
Result<BlockVersion> erase(Desk& desk, const std::string& id) {
    return desk.ask<BlockVersion>(
        [&](auto reply) { desk.kernel->erase(Desk::as("ada"), id, std::move(reply)); });
}
Result<Forked> fork(Desk& desk, ForkWhich which) {
    return desk.ask<Forked>(
        [&](auto reply) { desk.kernel->fork(Desk::as("bo"), which, std::move(reply)); });
}

TEST(Marks, AreOneVersionAndOneUndoAndSurviveARestart) {
    Desk desk;
    const std::string id = desk.create("words");
    ASSERT_EQ(mark(desk, id, {.excluded = true, .ephemeral = true})->version, 2U);
    EXPECT_EQ(mark(desk, id, {.excluded = true})->version, 2U);
    EXPECT_EQ(mark(desk, id, {})->version, 2U);
    ASSERT_EQ(mark(desk, id, {.collapsed = true, .ephemeral = false})->version, 3U);
    const auto marks = [&] { return list(desk).front().marks; };
    EXPECT_EQ(marks(), (conversation::Marks{true, true, false}));
    desk.restart();
    EXPECT_EQ(marks(), (conversation::Marks{true, true, false}));
    ASSERT_TRUE(desk.undo(id));
    EXPECT_EQ(marks(), (conversation::Marks{true, false, true}));
    ASSERT_TRUE(desk.undo(id));
    EXPECT_EQ(marks(), conversation::Marks{});
    ASSERT_TRUE(desk.undo(id, "ada", true));
    EXPECT_EQ(marks(), (conversation::Marks{true, false, true}));
    EXPECT_EQ(desk.text(id), "words");
}

TEST(Marks, OfTwoActorsAreUndoneApart) {
    Desk desk;
    const std::string id = desk.create("words");
    ASSERT_TRUE(mark(desk, id, {.excluded = true}, "ada"));
    ASSERT_TRUE(mark(desk, id, {.collapsed = true}, "bo"));
    ASSERT_TRUE(desk.undo(id, "ada"));
    EXPECT_EQ(list(desk).front().marks, (conversation::Marks{false, true, false}));
}

TEST(Pairs, AToolResultHasItsToolCallAndACallHasOneResult) {
    Desk desk;
    const std::string note = desk.create("note");
    EXPECT_EQ(reason(create(desk, Kind::tool_result)), "invalid_reference");
    EXPECT_EQ(reason(create(desk, Kind::tool_result, note)), "invalid_reference");
    const std::string call = create(desk, Kind::tool_call)->block_id;
    const std::string result = create(desk, Kind::tool_result, call, "one")->block_id;
    const auto second = create(desk, Kind::tool_result, call, "two");
    EXPECT_EQ(reason(second), "already_answered");
    EXPECT_EQ(*second.error().details().find("block_id"), Value(result));
    EXPECT_TRUE(create(desk, Kind::text, call));
    desk.restart();
    EXPECT_EQ(reason(create(desk, Kind::tool_result, call)), "already_answered");
}

// A deleted result makes room for another, and then undo does not bring it back beside that.
TEST(Pairs, UndoDoesNotGiveACallASecondResult) {
    Desk desk;
    const std::string call = create(desk, Kind::tool_call)->block_id;
    const std::string result = create(desk, Kind::tool_result, call, "one")->block_id;
    ASSERT_TRUE(erase(desk, result));
    const std::string other = create(desk, Kind::tool_result, call, "two")->block_id;
    EXPECT_EQ(desk.undo(result)->skipped_because_changed, 1U);
    EXPECT_EQ(desk.text(result), "invalid_reference");
    ASSERT_TRUE(erase(desk, other));
    EXPECT_EQ(reason(create(desk, Kind::tool_result, call)), "");
}

TEST(Forks, CopyWhatTheBlocksAreUnderNewIds) {
    Desk desk;
    const std::string first = desk.create("first\n", "ada");
    const std::string call = create(desk, Kind::tool_call, first, "{}")->block_id;
    const std::string result = create(desk, Kind::tool_result, call, "out")->block_id;
    const std::string gone = desk.create("gone", "ada", first);
    const std::string below = desk.create("below", "cy", gone);
    ASSERT_TRUE(erase(desk, gone));
    ASSERT_TRUE(mark(desk, below, {.excluded = true}));
    ASSERT_TRUE(desk.append(first, "second\n", "cy", Ack::accepted));

    const Result<Forked> forked = fork(desk, {.as = "other"});
    ASSERT_TRUE(forked);
    ASSERT_EQ(forked->blocks.size(), 4U);
    const std::map<std::string, std::string> names(forked->blocks.begin(), forked->blocks.end());
    const auto check = [&] {
        const std::vector<BlockInfo> before = list(desk);
        const std::vector<BlockInfo> after = list(desk, "other");
        ASSERT_EQ(before.size(), after.size());
        for (std::size_t i = 0; i < before.size(); ++i) {
            EXPECT_EQ(names.at(before[i].block_id), after[i].block_id);
            EXPECT_EQ(before[i].kind, after[i].kind);
            EXPECT_EQ(before[i].status, after[i].status);
            EXPECT_EQ(before[i].marks, after[i].marks);
            EXPECT_EQ(desk.text(before[i].block_id), desk.text(after[i].block_id));
            EXPECT_EQ(after[i].version, 1U);
        }
        EXPECT_EQ(after[1].parent_id, names.at(first));
        EXPECT_EQ(after[2].parent_id, names.at(call));
        EXPECT_EQ(after[3].parent_id, names.at(first));  // Its own parent is deleted.
    };
    check();
    desk.restart();
    check();
    // Each goes on by itself.
    ASSERT_TRUE(desk.append(names.at(first), "third\n", "ada"));
    EXPECT_EQ(desk.text(first), "first\nsecond\n");
    EXPECT_EQ(reason(create(desk, Kind::tool_result, names.at(call))), "invalid_reference");
}

TEST(Forks, TakeAnIntervalAndNeverSplitAPair) {
    Desk desk;
    const std::string one = desk.create("one");
    const std::string call = create(desk, Kind::tool_call)->block_id;
    const std::string result = create(desk, Kind::tool_result, call)->block_id;
    const std::string last = desk.create("last");

    EXPECT_EQ(reason(fork(desk, {.as = "a", .to = call})), "splits_pair");
    EXPECT_EQ(reason(fork(desk, {.as = "a", .from = result})), "splits_pair");
    EXPECT_EQ(reason(fork(desk, {.as = "a", .from = last, .to = one})), "invalid_range");
    EXPECT_EQ(reason(fork(desk, {.as = "a", .from = "b9_1_1"})), "invalid_reference");
    EXPECT_EQ(reason(fork(desk, {.conversation = "nowhere", .as = "a"})), "invalid_reference");
    EXPECT_EQ(reason(fork(desk, {.as = ""})), "invalid_argument");
    EXPECT_EQ(reason(fork(desk, {.as = "main"})), "conversation_exists");
    const Result<Forked> forked = fork(desk, {.as = "a", .from = call, .to = last});
    ASSERT_TRUE(forked);
    EXPECT_EQ(forked->blocks.size(), 3U);
    EXPECT_EQ(reason(fork(desk, {.as = "a"})), "conversation_exists");
    EXPECT_EQ(list(desk, "a").size(), 3U);
}

// --- cursors -----------------------------------------------------------------------------------

using Places = std::map<std::string, std::vector<Selection>>;

Places places(const Result<std::vector<ActorCursors>>& answer) {
    Places out;
    for (const ActorCursors& each : *answer) out[each.actor] = each.selections;
    return out;
}
Result<std::vector<ActorCursors>> set(Desk& desk, const std::string& id, const std::string& by,
                                      std::vector<Selection> selections) {
    return desk.ask<std::vector<ActorCursors>>([&](auto reply) {
        desk.kernel->set_cursors(Desk::as(by), id, selections, std::move(reply));
    });
}
Places get(Desk& desk, const std::string& id) {
    return places(desk.ask<std::vector<ActorCursors>>(
        [&](auto reply) { desk.kernel->cursors(Desk::as("reader"), id, std::move(reply)); }));
}

TEST(BlockCursors, FollowTheTextAndTheirOwnActorsTyping) {
    Desk desk;
    const std::string id = desk.create("héllo world");
    EXPECT_EQ(places(set(desk, id, "ada", {{6, 11}, {0, 0}})),
              (Places{{"agent:ada", {{6, 11}, {0, 0}}}}));
    set(desk, id, "bo", {{6, 6}});
    desk.splice(id, 7, 0, "big ", "ada");  // At byte 7, code point 6.
    EXPECT_EQ(get(desk, id), (Places{{"agent:ada", {{10, 15}, {0, 0}}}, {"agent:bo", {{6, 6}}}}));
    desk.splice(id, 0, 0, "So: ", "bo");
    EXPECT_EQ(get(desk, id), (Places{{"agent:ada", {{14, 19}, {0, 0}}}, {"agent:bo", {{10, 10}}}}));
    desk.append(id, "!", "ada", Ack::accepted);
    EXPECT_EQ(get(desk, id).at("agent:ada"), (std::vector<Selection>{{14, 20}, {0, 0}}));
    ASSERT_TRUE(desk.undo(id, "bo"));
    EXPECT_EQ(get(desk, id).at("agent:bo"), (std::vector<Selection>{{6, 6}}));
    set(desk, id, "ada", {});
    EXPECT_EQ(get(desk, id), (Places{{"agent:bo", {{6, 6}}}}));
}

TEST(BlockCursors, LastAMinuteAndAreInTheText) {
    Desk desk;
    const std::string id = desk.create("abc");
    EXPECT_EQ(reason(set(desk, id, "ada", {{0, 4}})), "invalid_range");
    EXPECT_EQ(reason(set(desk, id, "ada", std::vector<Selection>(101))), "too_large");
    set(desk, id, "ada", {{3, 3}});
    desk.advance(59'000);
    EXPECT_EQ(get(desk, id).size(), 1U);
    set(desk, id, "bo", {{1, 1}});
    desk.advance(1'000);
    EXPECT_EQ(get(desk, id), (Places{{"agent:bo", {{1, 1}}}}));
    desk.restart();
    EXPECT_EQ(get(desk, id), Places{});
}

// Random insertions and deletions of two actors, against places that a naive model counts.
TEST(BlockCursors, AreWhereAModelCountsThem) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        std::mt19937_64 random(seed);
        const auto below = [&](std::size_t n) {
            return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
        };
        Desk desk;
        const std::string id = desk.create("0123456789");
        std::size_t size = 10;
        std::map<std::string, std::vector<std::size_t>> model;
        for (int step = 0; step < 40; ++step) {
            const std::string by = below(2) == 0 ? "ada" : "bo";
            const std::size_t at = below(size + 1);
            const auto each_place = [&](auto move) {
                for (auto& [actor, own] : model) {
                    for (std::size_t& place : own) move(actor == by, place);
                }
            };
            switch (below(4)) {
                case 0: {
                    std::vector<Selection> selections;
                    model[by].clear();
                    for (std::size_t i = 0; i <= below(3); ++i) {
                        const std::size_t place = below(size + 1);
                        selections.push_back({place, place});
                        model[by].push_back(place);
                    }
                    ASSERT_TRUE(set(desk, id, by, selections));
                    break;
                }
                case 1: {
                    const std::size_t count = std::min(below(4) + 1, size - at);
                    if (count == 0) break;
                    ASSERT_TRUE(desk.splice(id, at, count, "", by));
                    size -= count;
                    each_place([&](bool, std::size_t& place) {
                        if (place > at) place = std::max(at, place - std::min(place, count));
                    });
                    break;
                }
                default: {
                    const std::size_t count = below(4) + 1;
                    ASSERT_TRUE(desk.splice(id, at, 0, std::string(count, 'x'), by));
                    size += count;
                    each_place([&](bool own, std::size_t& place) {
                        if (place > at || (own && place == at)) place += count;
                    });
                }
            }
            Places expected;
            for (const auto& [actor, own] : model) {
                for (const std::size_t place : own)
                    expected["agent:" + actor].push_back({place, place});
            }
            ASSERT_EQ(get(desk, id), expected) << "seed " << seed << ", step " << step;
        }
    }
}

}  // namespace
}  // namespace quire::kernel
