#include "rpc/message_scan.h"

#include <string>

#include <gtest/gtest.h>

namespace quire::rpc {
namespace {

MessageHead only(std::string_view line) {
    const auto heads = scan_messages(line);
    EXPECT_EQ(heads.size(), 1U) << line;
    return heads.empty() ? MessageHead() : heads[0];
}

TEST(MessageScan, FindsIdAndMethodWhereverTheyStand) {
    const MessageHead head = only(
        R"( {"params":{"id":9,"method":"no","a":[1,{"id":2}]}, "id" : 7 , "method":"tools/call"} )");
    EXPECT_EQ(head.id, "7");
    EXPECT_EQ(head.method, "tools/call");
}

TEST(MessageScan, TextInStringsIsNoStructure) {
    const MessageHead head =
        only(R"({"params":{"text":"\"}],{\"id\":1,\\"},"id":"a","method":"m"})");
    EXPECT_EQ(head.id, "\"a\"");
    EXPECT_EQ(head.method, "m");
}

TEST(MessageScan, OneIdInTwoSpellingsIsOneId) {
    EXPECT_EQ(only(R"({"id":"\u0061/"})").id, only(R"({"id":"a\/"})").id);
}

TEST(MessageScan, AnAnswerHasNoMethodAndANotificationNoId) {
    EXPECT_EQ(only(R"({"jsonrpc":"2.0","id":1,"result":{}})").method, "");
    EXPECT_EQ(only(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").id, "");
}

TEST(MessageScan, ACancellationNamesWhatItTakesBack) {
    EXPECT_EQ(only(R"({"method":"notifications/cancelled","params":{"requestId":"x"}})").cancels,
              "\"x\"");
}

TEST(MessageScan, TheStatelessEraIsKnownByTheRequestsOwnVersion) {
    EXPECT_TRUE(
        only(
            R"({"id":1,"method":"m","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})")
            .stateless);
    EXPECT_FALSE(
        only(
            R"({"id":1,"method":"m","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}})")
            .stateless);
    EXPECT_FALSE(only(R"({"id":1,"method":"m"})").stateless);
}

TEST(MessageScan, ABatchIsItsMessages) {
    const auto heads =
        scan_messages(R"([{"id":1,"method":"a"},{"method":"b"},{"id":2,"method":"c"}])");
    ASSERT_EQ(heads.size(), 3U);
    EXPECT_EQ(heads[0].id, "1");
    EXPECT_EQ(heads[2].method, "c");
}

TEST(MessageScan, MalformedTextGivesNoMethodAndEndsInTime) {
    for (const char* text : {"", "null", "7", "{", "{\"id\"", "{\"id\":", "[", "[[[[", "\"",
                             "{\"a\\", "]}", "{]", "{\"id\":}"}) {
        for (const MessageHead& head : scan_messages(text)) EXPECT_EQ(head.method, "") << text;
    }
    EXPECT_EQ(only(std::string("{\"id\":1,\"x\":") + std::string(1'000'000, '[')).id, "1");
}

}  // namespace
}  // namespace quire::rpc
