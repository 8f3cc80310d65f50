#include "conversation/block.h"

#include <gtest/gtest.h>

namespace quire::conversation {
namespace {

TEST(Block, WordsComeBackAsWhatTheyName) {
    for (const char* word : {"user", "model", "system", "tool"})
        EXPECT_EQ(name_of(*parse_enum<Role>("role", word)), word);
    for (const char* word : {"text", "thinking", "tool_call", "tool_result", "file", "error",
                             "notification", "task"}) {
        EXPECT_EQ(name_of(*parse_enum<Kind>("kind", word)), word);
    }
    for (const char* word : {"pending", "running", "done", "error"})
        EXPECT_EQ(name_of(*parse_enum<Status>("status", word)), word);
}

TEST(Block, AnUnknownWordIsAnsweredWithTheKnownOnes) {
    const auto kind = parse_enum<Kind>("kind", "image");

    ASSERT_FALSE(kind);
    EXPECT_EQ(kind.error().reason(), "invalid_argument");
    EXPECT_NE(kind.error().message().find("tool_result"), std::string::npos);
}

TEST(Block, OnlyTheWayBackToPendingIsClosed) {
    for (const Status from : {Status::pending, Status::running, Status::done, Status::error}) {
        for (const Status to : {Status::running, Status::done, Status::error})
            EXPECT_TRUE(check_transition(from, to));
    }
    EXPECT_TRUE(check_transition(Status::pending, Status::pending));
    EXPECT_EQ(check_transition(Status::done, Status::pending).error().reason(),
              "invalid_transition");
    EXPECT_EQ(check_transition(Status::running, Status::pending).error().code(), Errc::conflict);
}

TEST(Block, AnIdReadsBackAsItPrints) {
    for (const char* text : {"b7", "b0", "b1_2_45", "b1_0_0", "b9223372036854775807_1_2"}) {
        const auto id = BlockId::parse(text);
        ASSERT_TRUE(id) << text;
        EXPECT_EQ(id->str(), text);
    }
    EXPECT_TRUE(BlockId::parse("b7")->is_document());
    EXPECT_FALSE(BlockId::parse("b1_2_45")->is_document());
}

TEST(Block, TextThatNoToolPrintsIsNoId) {
    for (const char* text :
         {"", "b", "7", "b07", "b-1", "b1_", "b1_2", "b1_2_", "b1_2_3_", "b1_2_3_4", "b1__3",
          "b1_2_x", "b 1", "B1", "b99999999999999999999", "b1\n"}) {
        const auto id = BlockId::parse(text);
        ASSERT_FALSE(id) << text;
        EXPECT_EQ(id.error().reason(), "invalid_reference");
        EXPECT_EQ(id.error().code(), Errc::not_found);
    }
}

}  // namespace
}  // namespace quire::conversation
