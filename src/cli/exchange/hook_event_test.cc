// The events of each agent, and settings files that other programs edit too.
#include "cli/exchange/hook_event.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "cli/exchange/hook_settings.h"
#include "cli/exchange/jsonc_edit.h"
#include "json/json.h"

namespace quire::cli {
namespace {

using Use = HookPath::Use;
using Verdict = HookAnswer::Verdict;

std::optional<HookEvent> read(std::string_view text) {
    return read_hook_event(*json::parse(text), std::nullopt);
}

TEST(HookEvents, EachAgentsWordsMeanTheSame) {
    const auto claude = read(
        R"({"hook_event_name":"PreToolUse","session_id":"1","tool_use_id":"2","cwd":"/w","tool_name":"MultiEdit","tool_input":{"file_path":"/w/a","edits":[]}})");
    ASSERT_TRUE(claude);
    EXPECT_EQ(claude->agent, HookAgent::claude);
    EXPECT_EQ(claude->paths, (std::vector<HookPath>{{Use::change, "/w/a"}}));
    EXPECT_FALSE(claude->is_after());
    const auto codex = read(
        R"({"hook_event_name":"PostToolUse","session_id":"1","turn_id":"3","tool_use_id":"2","cwd":"/w","tool_name":"Bash","tool_input":{"command":["ls","it's"],"workdir":"sub"}})");
    ASSERT_TRUE(codex);
    EXPECT_EQ(codex->agent, HookAgent::codex);
    EXPECT_EQ(codex->command, "ls 'it'\\''s'");
    EXPECT_EQ(codex->cwd, "/w/sub");
    EXPECT_TRUE(codex->is_after());
    const auto gemini = read(
        R"({"hook_event_name":"BeforeTool","session_id":"1","cwd":"/w","tool_name":"read_file","tool_input":{"absolute_path":"/w/b"}})");
    ASSERT_TRUE(gemini);
    EXPECT_EQ(gemini->agent, HookAgent::gemini);
    EXPECT_EQ(gemini->paths, (std::vector<HookPath>{{Use::read, "/w/b"}}));
    const auto cursor = read(
        R"({"hook_event_name":"afterFileEdit","conversation_id":"1","generation_id":"4","workspace_roots":["/w"],"file_path":"/w/c","edits":[]})");
    ASSERT_TRUE(cursor);
    EXPECT_EQ(cursor->agent, HookAgent::cursor);
    EXPECT_EQ(cursor->cwd, "/w");
    EXPECT_EQ(cursor->paths, (std::vector<HookPath>{{Use::change, "/w/c"}}));
}

TEST(HookEvents, APatchNamesItsFiles) {
    const Map input{{"command",
                     "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Delete "
                     "File: c\n*** Add File: d\n+d\n*** End Patch\n"}};
    const auto event = read_hook_event(Map{{"hook_event_name", "PreToolUse"},
                                           {"turn_id", "1"},
                                           {"cwd", "/w"},
                                           {"tool_name", "apply_patch"},
                                           {"tool_input", input}},
                                       std::nullopt);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->paths,
              (std::vector<HookPath>{
                  {Use::erase, "a"}, {Use::change, "b"}, {Use::erase, "c"}, {Use::change, "d"}}));
}

TEST(HookEvents, OneUseHasOneKeyBeforeAndAfter) {
    const auto key = [](std::string_view name, std::string_view tool) {
        return read(cat(R"({"hook_event_name":")", name,
                        R"(","session_id":"1","tool_use_id":"2","tool_name":")", tool,
                        R"(","tool_input":{"file_path":"a"}})"))
            ->key;
    };
    EXPECT_EQ(key("PreToolUse", "Write"), key("PostToolUse", "Write"));
    EXPECT_EQ(key("BeforeTool", "write_file"), key("AfterTool", "write_file"));
}

TEST(HookEvents, TurnsAndWorkTreesAreRead) {
    const auto begins =
        read(R"({"hook_event_name":"UserPromptSubmit","session_id":"1","cwd":"/w","prompt":"x"})");
    EXPECT_EQ(begins->moment, HookMoment::turn_begins);
    EXPECT_EQ(begins->cwd, "/w");
    const auto ends = read(
        R"({"hook_event_name":"stop","conversation_id":"1","workspace_roots":["/w"],"status":"completed"})");
    EXPECT_EQ(ends->moment, HookMoment::turn_ends);
    EXPECT_EQ(ends->agent, HookAgent::cursor);
    for (const char* member : {"name", "worktree_name"}) {
        const auto wanted = read(
            cat(R"({"hook_event_name":"WorktreeCreate","cwd":"/w",")", member, R"(":"feature"})"));
        EXPECT_EQ(wanted->moment, HookMoment::worktree_wanted);
        EXPECT_EQ(wanted->worktree, "feature");
    }
    const auto unwanted =
        read(R"({"hook_event_name":"WorktreeRemove","cwd":"/w","worktree_path":"/w/t"})");
    EXPECT_EQ(unwanted->moment, HookMoment::worktree_unwanted);
    EXPECT_EQ(unwanted->worktree, "/w/t");
}

TEST(HookEvents, AtTheEndOfATurnThePersonIsTold) {
    HookAnswer answer;
    answer.notice = "landed a";
    HookEvent event;
    event.name = "Stop";
    event.moment = HookMoment::turn_ends;
    EXPECT_EQ(json::write(hook_answer(event, answer)), R"({"systemMessage":"landed a"})");
    event.agent = HookAgent::cursor;
    EXPECT_EQ(json::write(hook_answer(event, answer)), "{}");
}

TEST(HookEvents, AVerdictIsSaidSoThatTheAgentHoldsToIt) {
    const HookAnswer ask{Verdict::ask, "why", ""};
    HookEvent event;
    const auto said = [&](HookAgent agent, const char* name, const HookAnswer& answer) {
        event.agent = agent;
        event.name = name;
        const bool is_after = std::string_view(name).find("ost") != std::string_view::npos ||
                              std::string_view(name).find("fter") != std::string_view::npos;
        event.moment = is_after ? HookMoment::after_tool : HookMoment::before_tool;
        return json::write(hook_answer(event, answer));
    };
    EXPECT_EQ(said(HookAgent::claude, "PreToolUse", {}), "{}");
    EXPECT_EQ(
        said(HookAgent::claude, "PreToolUse", ask),
        R"({"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"why"}})");
    // The hooks of these agents cannot ask.
    for (const auto& [agent, name] : {std::pair(HookAgent::codex, "PreToolUse"),
                                      {HookAgent::gemini, "BeforeTool"},
                                      {HookAgent::cursor, "preToolUse"}}) {
        const std::string text = said(agent, name, ask);
        EXPECT_NE(text.find(R"(":"deny")"), std::string::npos) << text;
        EXPECT_NE(text.find("quire's own tools"), std::string::npos) << text;
    }
    EXPECT_NE(said(HookAgent::cursor, "beforeShellExecution", ask).find(R"("permission":"ask")"),
              std::string::npos);
    EXPECT_EQ(
        said(HookAgent::claude, "PostToolUse", {Verdict::none, "bad", "more"}),
        R"({"decision":"block","reason":"bad","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"more"}})");
    EXPECT_EQ(said(HookAgent::cursor, "postToolUse", {Verdict::none, "bad", "more"}),
              R"({"additional_context":"bad\nmore"})");
    // A long text is cut between code points.
    const std::string longer = said(HookAgent::gemini, "AfterTool",
                                    {Verdict::none, "", cat(std::string(399, 'x'), "äöü")});
    EXPECT_TRUE(json::parse(longer));
    EXPECT_NE(longer.find("x…"), std::string::npos);
}

// Damaged events are events or none, and never end the program.
TEST(HookEvents, OddEventsAreNone) {
    std::mt19937 random(11);
    const std::string good =
        R"({"hook_event_name":"PreToolUse","session_id":"1","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"}})";
    for (int turn = 0; turn < 5000; ++turn) {
        std::string text = good;
        for (std::size_t edits = 1 + random() % 4; edits > 0; --edits)
            text[random() % text.size()] = R"({}[]":,0atX )"[random() % 13];
        const Result<Value> value = json::parse(text);
        if (!value) continue;
        if (const auto event = read_hook_event(*value, std::nullopt)) {
            EXPECT_TRUE(event->command || !event->paths.empty() || !event->is_about_tool());
            static_cast<void>(hook_answer(*event, {Verdict::ask, "why", "x"}));
        }
    }
}

// Removing our hooks restores the file byte for byte.
TEST(HookSettings, OursComesAndGoesWithoutATrace) {
    const char* const kTheirs[] = {
        "",
        "{}",
        "{\n}\n",
        "{ \"a\": 1 }",
        "{\n  // note\n  \"hooks\": {\n  }\n}\n",
        "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"X\"} /* keep */ ], \"SessionEnd\": []}}",
        "{\n\t\"hooks\": {\n\t\t\"BeforeTool\": [\n\t\t\t{\"hooks\": []},\n\t\t],\n\t},\n}\n"};
    for (const char* const agent : {"claude", "codex", "cursor", "gemini"}) {
        for (const char* const theirs : kTheirs) {
            const auto with = with_hooks(agent, theirs, "/opt/my programs/quire");
            ASSERT_TRUE(with) << theirs << ": " << with.error().message();
            EXPECT_NE(with->find("'/opt/my programs/quire' hook --agent "), std::string::npos);
            EXPECT_EQ(with_hooks(agent, *with, "/opt/my programs/quire"), *with);
            const auto moved = with_hooks(agent, *with, "/usr/bin/quire");
            ASSERT_TRUE(moved);
            EXPECT_EQ(moved->find("my programs"), std::string::npos) << *moved;
            EXPECT_EQ(without_hooks(agent, *with), theirs) << agent;
            EXPECT_EQ(without_hooks(agent, *moved), theirs) << agent;
        }
    }
    EXPECT_EQ(with_hooks("claude", "{\"hooks\": []}", "q").error().reason(), "not_an_object");
    EXPECT_EQ(hooks_file("vscode"), "");
}

}  // namespace
}  // namespace quire::cli
