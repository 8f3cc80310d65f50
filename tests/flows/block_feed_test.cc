// block_subscribe, block_events and block_sync on files and conversations, as callers see them.
#include <gtest/gtest.h>

#include "json/members.h"
#include "tests/flows/workspace.h"

namespace quire {
namespace {

class Feed {
public:
    Feed() { desk.disk.put("a.txt", "one\ntwo\n"); }

    Value ok(std::string_view tool, std::string_view arguments,
             const std::string& by = "agent:ada") {
        const tools::EncodedResult result = desk.call_tool(tool, arguments, by);
        EXPECT_FALSE(result.is_error) << tool << ": " << result.text;
        return result.structured;
    }
    std::string subscribe(std::string_view arguments = "{}", const std::string& by = "agent:ada") {
        return ok("block_subscribe", arguments, by).get("subscription_id")->as_string();
    }
    Value pull(const std::string& id, const std::string& by = "agent:ada") {
        return ok("block_events", cat(R"({"subscription_id":")", id, "\"}"), by);
    }
    std::string events(const std::string& id, const std::string& by = "agent:ada") {
        return json::write(*pull(id, by).get("events"));
    }

    Workspace desk;
};

TEST(BlockFeedFlow, EventsOfAFileNameItsPath) {
    Feed feed;
    feed.desk.call(R"({"operation":"read","path":"a.txt"})");
    const std::string id = feed.subscribe(R"({"block_ids":["file:a.txt"]})");

    feed.desk.call(R"({"operation":"append","path":"a.txt","content":"three\n"})", "agent:bob");
    feed.desk.call(R"({"operation":"replace","path":"a.txt","find":"one","replace":"ONE"})");

    EXPECT_EQ(feed.events(id),
              R"([{"block_id":"b1","version":2,"actor":"agent:bob","type":"appended",)"
              R"("path":"a.txt","text":"three\n"},)"
              R"({"block_id":"b1","version":3,"actor":"agent:ada","type":"replaced",)"
              R"("path":"a.txt","edits":[{"start":0,"end":1,"content":"ONE\n"}]}])");
}

TEST(BlockFeedFlow, AMarkIsTold) {
    Feed feed;
    const std::string block =
        json::text_in(feed.ok("block_create", R"({"role":"user","kind":"text"})"), "block_id");
    const std::string id = feed.subscribe();

    feed.ok("block_mark", cat(R"({"block_id":")", block, R"(","excluded":true,"collapsed":true})"));
    feed.ok("block_mark", cat(R"({"block_id":")", block, R"(","excluded":false})"));

    const Value answer = feed.pull(id);
    const List& events = answer.get("events")->as_list();
    ASSERT_EQ(events.size(), 2U) << json::write(answer);
    EXPECT_EQ(json::text_in(events[0], "type"), "metadata");
    EXPECT_EQ(*events[0].get("excluded"), Value(true));
    EXPECT_EQ(*events[0].get("collapsed"), Value(true));
    EXPECT_EQ(events[1].get("excluded"), nullptr);
    EXPECT_EQ(*events[1].get("collapsed"), Value(true));
}

TEST(BlockFeedFlow, AChangeOfTheDiskIsItsOwn) {
    Feed feed;
    feed.desk.call(R"({"operation":"read","path":"a.txt"})");
    const std::string id = feed.subscribe();
    feed.desk.disk.put("a.txt", "zero\none\ntwo\n");

    feed.desk.call(R"({"operation":"read","path":"a.txt"})");

    EXPECT_EQ(feed.events(id),
              R"([{"block_id":"b1","version":2,"actor":"source:disk","type":"replaced",)"
              R"("path":"a.txt","edits":[{"start":0,"end":0,"content":"zero\n"}]}])");
}

TEST(BlockFeedFlow, AFileThatIsReadInOrDeletedIsTold) {
    Feed feed;
    const std::string id = feed.subscribe();

    feed.desk.call(R"({"operation":"read","path":"a.txt"})");
    feed.desk.call(R"({"operation":"delete","path":"a.txt"})", "human:kay");

    const Value answer = feed.pull(id);
    const List& events = answer.get("events")->as_list();
    ASSERT_EQ(events.size(), 2U) << json::write(answer);
    EXPECT_EQ(json::text_in(events[0], "type"), "created");
    EXPECT_EQ(json::text_in(events[0], "content"), "one\ntwo\n");
    EXPECT_EQ(json::text_in(*events[0].get("block"), "path"), "a.txt");
    EXPECT_EQ(json::text_in(events[1], "type"), "deleted");
    EXPECT_FALSE(answer.as_map().contains("lagged"));
}

TEST(BlockFeedFlow, AnEditOfManyOperationsIsOneEvent) {
    Feed feed;
    feed.desk.disk.put("b.txt", "1\n2\n3\n4\n5\n");
    feed.desk.call(R"({"operation":"read","path":"b.txt"})");
    const std::string id = feed.subscribe();

    feed.ok("block_edit",
            R"({"block_id":"file:b.txt","coords":"original","operations":[
                {"op":"replace","start_line":0,"end_line":1,"content":"one\n"},
                {"op":"insert","line":4,"content":"four and a half\n"}]})");

    const Value answer = feed.pull(id);
    const List& events = answer.get("events")->as_list();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(json::write(*events[0].get("edits")),
              R"([{"start":0,"end":1,"content":"one\n"},)"
              R"({"start":4,"end":4,"content":"four and a half\n"}])");
}

TEST(BlockFeedFlow, EditsOfAPrivateCopyAreNotToldBeforeTheyAreMerged) {
    Feed feed;
    feed.desk.call(R"({"operation":"read","path":"a.txt"})");
    const std::string id = feed.subscribe("{}", "agent:bob");

    feed.desk.call(R"({"operation":"stage","path":"a.txt"})");
    feed.desk.call(R"({"operation":"append","path":"a.txt","content":"three\n"})");
    EXPECT_EQ(feed.events(id, "agent:bob"), "[]");
    feed.desk.call(R"({"operation":"unstage","path":"a.txt","apply":true})");

    EXPECT_EQ(feed.events(id, "agent:bob"),
              R"([{"block_id":"b1","version":2,"actor":"agent:ada","type":"appended",)"
              R"("path":"a.txt","text":"three\n"}])");
}

TEST(BlockFeedFlow, UpdatesStandInPlaceOfTheTextWhereTheyAreAskedFor) {
    Feed feed;
    const std::string id = feed.subscribe(R"({"format":"ops"})");

    feed.ok("block_create", R"({"role":"user","kind":"text","content":"hello"})");

    const Value answer = feed.pull(id);
    const List& events = answer.get("events")->as_list();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(json::text_in(events[0], "type"), "created");
    EXPECT_FALSE(events[0].as_map().contains("content"));
    EXPECT_FALSE(json::text_in(events[0], "updates").empty());
}

TEST(BlockFeedFlow, ASessionIsSentWhatItCouldPull) {
    Feed feed;
    std::vector<std::string> sent;
    feed.desk.notify =
        std::make_shared<const kernel::Notify>([&](std::string_view method, Map params) {
            sent.push_back(cat(method, " ", json::write(Value(std::move(params)))));
        });
    feed.desk.session = 7;
    const std::string id = feed.subscribe();

    feed.ok("block_create", R"({"role":"user","kind":"text","content":"hello"})");
    const Value pulled = feed.pull(id);

    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0], cat("notifications/quire/blocks {\"subscription_id\":\"", id,
                           "\",\"events\":", json::write(*pulled.get("events")), "}"));
}

TEST(BlockFeedFlow, SyncTakesPathsAndGivesEventsAndWhatIsNew) {
    Feed feed;
    feed.desk.call(R"({"operation":"read","path":"a.txt"})");
    feed.desk.call(R"({"operation":"append","path":"a.txt","content":"three\n"})");
    feed.ok("block_create", R"({"role":"user","kind":"text","content":"hello"})");

    const Value answer = feed.ok("block_sync", R"({"versions":[["file:a.txt",1]]})");

    EXPECT_EQ(json::write(*answer.get("patches")),
              R"([{"block_id":"b1","version":2,"actor":"agent:ada","type":"appended",)"
              R"("path":"a.txt","text":"three\n"}])");
    ASSERT_EQ(answer.get("new_blocks")->as_list().size(), 1U);
    EXPECT_EQ(json::text_in(answer.get("new_blocks")->as_list()[0], "content"), "hello");
}

TEST(BlockFeedFlow, ArgumentsThatAreNoPairsAreRefused) {
    Feed feed;

    const auto refused = feed.desk.call_tool("block_sync", R"({"versions":[["b1","2"]]})");

    EXPECT_TRUE(refused.is_error);
    EXPECT_EQ(json::text_in(*refused.structured.get("error"), "reason"), "invalid_arguments");
}

}  // namespace
}  // namespace quire
