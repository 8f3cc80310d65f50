// Rules that count calls: which calls count, per what, and for how long.
#include <string>

#include "tests/flows/tool_rules_words.h"

namespace quire {
namespace {

TEST(ToolCounts, AllCallsCountAndThoseThatAreRefusedDoNot) {
    Workspace workspace(Profile::full, common({at_most("file", 2)}));
    EXPECT_EQ(workspace.outcome(R"({"operation":"nothing"})"), "invalid_arguments");
    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"none"})"), "file_not_found");
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "ok");
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "max_calls_exceeded");
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "max_calls_exceeded");
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})", "agent:bo"), "ok");
    // Another session begins anew, and its end leaves the other as it was.
    workspace.session = 7;
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "ok");
    kernel::Caller left{kAda, 7, {}};
    workspace.rules().close_session(left);
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "ok");
    workspace.session = 0;
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "max_calls_exceeded");
}

TEST(ToolCounts, PersistentCountsOutliveTheKernel) {
    ToolRule pause{.tool = "block_list", .type = RuleType::cooldown};
    pause.number = 60'000;
    pause.per = Per::persistent;
    Workspace workspace(Profile::full, common({at_most("file", 2, Per::persistent), pause}));
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "ok");
    EXPECT_FALSE(workspace.call_tool("block_list", "{}").is_error);
    workspace.restart();
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "ok");
    workspace.restart();
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "max_calls_exceeded");
    EXPECT_TRUE(workspace.call_tool("block_list", "{}").is_error);
    EXPECT_EQ(workspace.last.get("error")->get("reason")->as_string(), "cooldown_active");
    workspace.clock.advance(60'000);
    EXPECT_FALSE(workspace.call_tool("block_list", "{}").is_error);
}

TEST(ToolCounts, ACallThatAFullDiskCouldNotCountIsCountedLater) {
    Workspace workspace(Profile::full, common({at_most("file", 2, Per::persistent)}));
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "ok");
    workspace.fill_the_disk_once();
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "ok");
    EXPECT_FALSE(workspace.call_tool("block_list", "{}").is_error);
    workspace.restart();
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "max_calls_exceeded");
}

TEST(ToolCounts, CountsPerConversationAreKeptThere) {
    Workspace workspace(Profile::full, common({at_most("block_append", 1, Per::conversation)}));
    const auto made = [&](const char* conversation) {
        workspace.call_tool("block_create", cat(R"({"role":"user","kind":"text","conversation":")",
                                                conversation, "\"}"));
        return workspace.last.get("block_id")->as_string();
    };
    const auto append = [&](const std::string& id) {
        const auto answer =
            workspace.call_tool("block_append", cat(R"({"block_id":")", id, R"(","text":"x"})"));
        return answer.is_error ? workspace.last.get("error")->get("reason")->as_string() : "ok";
    };
    const std::string main1 = made("main"), main2 = made("main"), side = made("side");
    EXPECT_EQ(append(main1), "ok");
    EXPECT_EQ(append(main2), "max_calls_exceeded");
    EXPECT_EQ(append(side), "ok");
    workspace.session = 5;
    EXPECT_EQ(append(main1), "max_calls_exceeded");
    workspace.restart();
    EXPECT_EQ(append(side), "max_calls_exceeded");
}

TEST(ToolCounts, ACallThatNamesNoConversationCountsInTheOneThatTheToolTakes) {
    Workspace workspace(Profile::full, common({at_most("block_create", 1, Per::conversation)}));
    const auto create = [&](const char* more) {
        const auto made =
            workspace.call_tool("block_create", cat(R"({"role":"user","kind":"text")", more, "}"));
        return made.is_error ? workspace.last.get("error")->get("reason")->as_string() : "ok";
    };
    constexpr auto kMain = R"(,"conversation":"main")";
    EXPECT_EQ(create(""), "ok");
    EXPECT_EQ(create(kMain), "max_calls_exceeded");
    workspace.session = 5;
    EXPECT_EQ(create(""), "max_calls_exceeded");
    EXPECT_EQ(create(R"(,"conversation":"side")"), "ok");
    workspace.restart();
    EXPECT_EQ(create(""), "max_calls_exceeded");
    EXPECT_EQ(create(kMain), "max_calls_exceeded");
    EXPECT_EQ(create(R"(,"conversation":"side")"), "max_calls_exceeded");
}

TEST(ToolCounts, ARefusalInAConversationThatDoesNotExistLeavesNothing) {
    Workspace workspace(Profile::full, common({at_most("*", 2, Per::conversation)}));
    const auto create = [&](const std::string& conversation, const char* more = "") {
        const auto made = workspace.call_tool(
            "block_create",
            cat(R"({"role":"user","kind":"text","conversation":")", conversation, "\"", more, "}"));
        return made.is_error ? workspace.last.get("error")->get("reason")->as_string() : "ok";
    };
    // These calls name a parent that does not exist.
    constexpr auto kNowhere = R"(,"parent_id":"1-1")";
    for (int i = 0; i < 50; ++i) EXPECT_NE(create(cat("c", i), kNowhere), "ok");
    EXPECT_EQ(workspace.stored_facts(), 0U);
    // Nothing was counted for "c0", since the conversation does not exist.
    for (int i = 0; i < 5; ++i) EXPECT_NE(create("c0", kNowhere), "max_calls_exceeded");
    EXPECT_EQ(create("c0"), "ok");
    EXPECT_EQ(workspace.stored_facts(), 1U);
    EXPECT_EQ(create("c0"), "ok");
    EXPECT_EQ(create("c0"), "max_calls_exceeded");
    // A refusal in one that is there counts.
    EXPECT_EQ(create("c1"), "ok");
    EXPECT_NE(create("c1", kNowhere), "ok");
    EXPECT_EQ(create("c1"), "max_calls_exceeded");
    workspace.restart();
    EXPECT_EQ(create("c0"), "max_calls_exceeded");
    EXPECT_EQ(workspace.stored_facts(), 2U);
    // All names that are none count together, as in no conversation.
    EXPECT_EQ(create(std::string(300, 'x')), "invalid_argument");
    EXPECT_EQ(create(std::string(301, 'x')), "invalid_argument");
    EXPECT_EQ(create(std::string(302, 'x')), "max_calls_exceeded");
    EXPECT_EQ(workspace.stored_facts(), 2U);

    // A crash may leave facts of a conversation that never got its first block. The next start
    // drops them.
    Workspace other(Profile::full, common({at_most("*", 2, Per::conversation)}));
    other.call_tool("block_create", R"({"role":"user","kind":"text","conversation":"c1"})");
    other.store_facts(workspace.facts());
    EXPECT_EQ(other.stored_facts(), 2U);
    other.restart();
    EXPECT_EQ(other.stored_facts(), 1U);
}

}  // namespace
}  // namespace quire
