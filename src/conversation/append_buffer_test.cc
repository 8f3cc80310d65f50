#include "conversation/append_buffer.h"

#include <gtest/gtest.h>

namespace quire::conversation {
namespace {

const policy::Actor kAda{policy::ActorKind::agent, "ada"};
const policy::Actor kBob{policy::ActorKind::agent, "bob"};

TEST(AppendBuffer, WaitsForMore) {
    AppendBuffer buffer;
    buffer.add("a few words", 1000, kAda);

    EXPECT_FALSE(buffer.due(1099));
}

TEST(AppendBuffer, IsDueOnANewline) {
    AppendBuffer buffer;
    buffer.add("one\ntw", 1000, kAda);

    EXPECT_TRUE(buffer.due(1000));
}

TEST(AppendBuffer, IsDueAtFiftyCodePointsNotBytes) {
    AppendBuffer buffer;
    for (int i = 0; i < 49; ++i) buffer.add("\xC3\xA9", 1000, kAda);
    EXPECT_FALSE(buffer.due(1000));

    buffer.add("\xC3\xA9", 1000, kAda);
    EXPECT_TRUE(buffer.due(1000));
}

TEST(AppendBuffer, IsDueAfterATenthOfASecondOfSilence) {
    AppendBuffer buffer;
    buffer.add("a", 1000, kAda);
    buffer.add("b", 1080, kAda);

    EXPECT_EQ(buffer.deadline_ms(), 1180);
    EXPECT_FALSE(buffer.due(1179));
    EXPECT_TRUE(buffer.due(1180));
}

TEST(AppendBuffer, MakesAnotherWriterWaitUntilItIsTaken) {
    AppendBuffer buffer;
    buffer.add("ada's", 1000, kAda);
    EXPECT_TRUE(buffer.blocks(kBob));
    EXPECT_FALSE(buffer.blocks(kAda));

    const auto taken = buffer.take();
    EXPECT_EQ(taken->writer, kAda);
    EXPECT_EQ(taken->text, "ada's");
    EXPECT_FALSE(buffer.blocks(kBob));
}

TEST(AppendBuffer, IsEmptyOnceTaken) {
    AppendBuffer buffer;
    buffer.add("line\n", 1000, kAda);
    buffer.take();

    EXPECT_FALSE(buffer.due(99999));
    EXPECT_EQ(buffer.deadline_ms(), std::nullopt);
    EXPECT_EQ(buffer.take(), std::nullopt);
    buffer.add("x", 2000, kBob);
    EXPECT_FALSE(buffer.due(2000)) << "the newline that was taken no longer counts";
}

TEST(AppendBuffer, AnEmptyBufferGivesNothing) {
    AppendBuffer buffer;
    buffer.add("", 1000, kAda);

    EXPECT_EQ(buffer.deadline_ms(), std::nullopt);
}

}  // namespace
}  // namespace quire::conversation
