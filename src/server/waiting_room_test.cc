#include "server/waiting_room.h"

#include <memory>

#include <gtest/gtest.h>

namespace quire::server {
namespace {

using Verdict = WaitingRoom::Verdict;
using Ids = std::vector<std::uint64_t>;

constexpr std::size_t kLong = LongLineTurn::kLongLine;

struct Room {
    std::shared_ptr<Traffic> traffic = std::make_shared<Traffic>(100);
    WaitingRoom waiting{traffic, 10'000};
};

TEST(WaitingRoom, ARequestBeginsWhereThereIsRoom) {
    Room room;
    room.traffic->add(60);
    EXPECT_EQ(room.waiting.ask(1, 40, 0), Verdict::go);
}

TEST(WaitingRoom, ARequestLargerThanTheBoundBeginsAlone) {
    Room room;
    EXPECT_EQ(room.waiting.ask(1, 1000, 0), Verdict::go);
}

TEST(WaitingRoom, WithoutRoomARequestWaitsUntilBytesHaveLeft) {
    Room room;
    room.traffic->add(100);
    ASSERT_EQ(room.waiting.ask(1, 1, 0), Verdict::wait);
    EXPECT_TRUE(room.traffic->remove(50));

    EXPECT_EQ(room.waiting.due(1), Ids{1});
    EXPECT_EQ(room.waiting.ask(1, 1, 1), Verdict::go);
    EXPECT_EQ(room.waiting.due(2), Ids{});
}

TEST(WaitingRoom, WithoutRoomForTooLongARequestIsRefusedAndTheNextOneWaitsAnew) {
    Room room;
    room.traffic->add(100);
    ASSERT_EQ(room.waiting.ask(1, 1, 0), Verdict::wait);
    ASSERT_EQ(room.waiting.due_ms(), 10'000);

    EXPECT_EQ(room.waiting.ask(1, 1, 9'999), Verdict::wait);
    EXPECT_EQ(room.waiting.ask(1, 1, 10'000), Verdict::refuse);
    EXPECT_EQ(room.waiting.ask(1, 1, 10'001), Verdict::wait);
    EXPECT_EQ(room.waiting.no_room().reason(), "in_flight_limit");
}

TEST(WaitingRoom, BytesThatLeaveBeforeTheyWereCountedDoNotFillIt) {
    Room room;
    room.traffic->remove(50);
    EXPECT_EQ(room.waiting.ask(1, 100, 0), Verdict::go);
}

TEST(WaitingRoom, LongLinesComeOneAfterAnother) {
    Room room;
    EXPECT_TRUE(room.waiting.may_send(1, kLong, 0));
    EXPECT_FALSE(room.waiting.may_send(2, kLong, 1));
    EXPECT_TRUE(room.waiting.may_send(3, kLong - 1, 1));
    EXPECT_TRUE(room.waiting.may_send(1, 2 * kLong, 2));

    EXPECT_TRUE(room.waiting.may_send(1, 0, 3));  // Its line has ended.

    EXPECT_EQ(room.waiting.due(3), Ids{2});
    EXPECT_TRUE(room.waiting.may_send(2, kLong, 3));
}

TEST(WaitingRoom, AClientThatLeavesGivesItsTurnOn) {
    Room room;
    ASSERT_TRUE(room.waiting.may_send(1, kLong, 0));
    ASSERT_FALSE(room.waiting.may_send(2, kLong, 0));

    room.waiting.leave(1);

    EXPECT_EQ(room.waiting.due(0), Ids{2});
}

TEST(WaitingRoom, AClientThatStallsLosesItsTurnToOneThatWaits) {
    Room room;
    ASSERT_TRUE(room.waiting.may_send(1, kLong, 0));
    ASSERT_FALSE(room.waiting.may_send(2, kLong, 10));
    EXPECT_EQ(room.waiting.due(LongLineTurn::kStallMs - 1), Ids{});

    EXPECT_EQ(room.waiting.due_ms(), LongLineTurn::kStallMs);
    EXPECT_EQ(room.waiting.due(LongLineTurn::kStallMs), Ids{2});
    EXPECT_TRUE(room.waiting.may_send(2, kLong, LongLineTurn::kStallMs));
    EXPECT_FALSE(room.waiting.may_send(1, kLong, LongLineTurn::kStallMs));
}

}  // namespace
}  // namespace quire::server
