// The tool `file` on paths that need a person's approval.
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "tests/flows/workspace.h"

namespace quire {
namespace {

struct FileDeed {
    const char* arguments;
    const char* operation;
};

TEST(FileApprovals, ACallThatNeedsApprovalIsAskedForOnceAndDoneOnce) {
    const FileDeed deeds[] = {
        {R"({"operation":"append","path":"ask/f","content":"y\n"})", "append"},
        {R"({"operation":"replace","path":"ask/f","find":"x","replace":"z"})", "overwrite"},
        {R"({"operation":"insert","path":"ask/f","line":0,"content":"y\n"})", "overwrite"},
        {R"({"operation":"create","path":"ask/new","content":"y\n"})", "create"},
        {R"({"operation":"delete","path":"ask/f"})", "delete"},
        {R"({"operation":"delete","path":"free"})", "delete"},
    };
    for (const FileDeed& deed : deeds) {
        Workspace workspace;
        workspace.disk.put("ask/f", "x\n");
        workspace.disk.put("free", "x\n");
        const std::string id = workspace.asked(deed.arguments);
        EXPECT_EQ(workspace.asked(deed.arguments), id) << deed.arguments;
        workspace.call_tool("approvals", R"({"operation":"list"})", "human:tom");
        const List& approvals = workspace.last.get("approvals")->as_list();
        ASSERT_EQ(approvals.size(), 1U);
        EXPECT_EQ(*approvals[0].get("operation"), Value(deed.operation));
        EXPECT_EQ(*approvals[0].get("actor"), Value("agent:ada"));
        EXPECT_TRUE(approvals[0].get("path")->is_string());

        EXPECT_EQ(workspace.resolve(id), "ok");
        EXPECT_EQ(workspace.outcome(deed.arguments), "ok") << deed.arguments;
        workspace.call_tool("approvals", R"({"operation":"list","all":true})", "human:tom");
        EXPECT_EQ(*workspace.last.get("approvals")->as_list()[0].get("status"), Value("used"));
        EXPECT_NE(workspace.outcome(deed.arguments), "ok") << deed.arguments;
    }
}

TEST(FileApprovals, APersonSeesWhatTheCallWouldChange) {
    struct Shown {
        const char* arguments;
        const char* diff;
    };
    const Shown calls[] = {
        {R"({"operation":"append","path":"ask/f","content":"y\n"})",
         "--- a/ask/f\n+++ b/ask/f\n@@ -1,2 +1,3 @@\n x\n w\n+y\n"},
        {R"({"operation":"replace","path":"ask/f","find":"x","replace":"\u202Ez"})",
         "--- a/ask/f\n+++ b/ask/f\n@@ -1,2 +1,2 @@\n-x\n+\\u{202e}z\n w\n"},
        {R"({"operation":"create","path":"ask/new","content":"y\n"})",
         "--- a/ask/new\n+++ b/ask/new\n@@ -0,0 +1 @@\n+y\n"},
        {R"({"operation":"delete","path":"ask/f"})",
         "--- a/ask/f\n+++ b/ask/f\n@@ -1,2 +0,0 @@\n-x\n-w\n"},
        {R"({"operation":"patch","path":"ask/f","patch":"@@ -1,2 +1,2 @@\n-x\n+z\n w\n"})",
         "--- a/ask/f\n+++ b/ask/f\n@@ -1,2 +1,2 @@\n-x\n+z\n w\n"},
    };
    for (const Shown& shown : calls) {
        Workspace workspace;
        workspace.disk.put("ask/f", "x\nw\n");
        workspace.asked(shown.arguments);
        EXPECT_EQ(workspace.last.get("error")->get("details")->get("diff"), nullptr);
        workspace.call_tool("approvals", R"({"operation":"list"})", "human:tom");
        const List& approvals = workspace.last.get("approvals")->as_list();
        ASSERT_EQ(approvals.size(), 1U) << shown.arguments;
        const Value* diff = approvals[0].get("diff");
        ASSERT_NE(diff, nullptr) << shown.arguments;
        EXPECT_EQ(diff->as_string(), shown.diff) << shown.arguments;
    }
}

TEST(FileApprovals, APersonSeesWhatAnUndoWouldChange) {
    Workspace workspace;
    workspace.disk.put("ask/f", "x\nw\n");
    constexpr auto kEdit = R"({"operation":"replace","path":"ask/f","find":"x","replace":"z"})";
    ASSERT_EQ(workspace.resolve(workspace.asked(kEdit)), "ok");
    ASSERT_EQ(workspace.outcome(kEdit), "ok");
    workspace.call_tool("block_undo", R"({"block_id":"file:ask/f"})");
    EXPECT_EQ(workspace.last.get("error")->get("details")->get("diff"), nullptr);
    workspace.call_tool("approvals", R"({"operation":"list"})", "human:tom");
    const List& approvals = workspace.last.get("approvals")->as_list();
    ASSERT_EQ(approvals.size(), 1U);
    EXPECT_EQ(approvals[0].get("diff")->as_string(),
              "--- a/ask/f\n+++ b/ask/f\n@@ -1,2 +1,2 @@\n-z\n+x\n w\n");
}

TEST(FileApprovals, ACallThatIsMadeAgainShowsWhatItWouldChangeNow) {
    Workspace workspace;
    workspace.disk.put("ask/f", "x\n");
    constexpr auto kAppend = R"({"operation":"append","path":"ask/f","content":"y\n"})";
    const std::string id = workspace.asked(kAppend);
    workspace.disk.put("ask/f", "x\nnew\n");
    EXPECT_EQ(workspace.asked(kAppend), id);
    workspace.call_tool("approvals", R"({"operation":"list"})", "human:tom");
    EXPECT_EQ(workspace.last.get("approvals")->as_list()[0].get("diff")->as_string(),
              "--- a/ask/f\n+++ b/ask/f\n@@ -1,2 +1,3 @@\n x\n new\n+y\n");

    std::string long_text;
    for (int i = 0; i < 4000; ++i) long_text += cat("line ", i, "\\n");
    workspace.asked(
        cat(R"({"operation":"create","path":"ask/long","content":")", long_text, "\"}"));
    workspace.call_tool("approvals", R"({"operation":"list"})", "human:tom");
    const std::string diff = workspace.last.get("approvals")->as_list()[1].get("diff")->as_string();
    EXPECT_LT(diff.size(), std::size_t{17} << 10);
    EXPECT_TRUE(diff.ends_with(" more lines)\n")) << diff.substr(diff.size() - 40);
}

TEST(FileApprovals, AnApprovedEditIsSavedWithAnApprovalOfItsOwn) {
    Workspace workspace;
    workspace.disk.put("ask/f", "x\n");
    constexpr auto kEdit = R"({"operation":"replace","path":"ask/f","find":"x","replace":"z"})";
    constexpr auto kSave = R"({"operation":"save","path":"ask/f"})";
    EXPECT_EQ(workspace.resolve(workspace.asked(kEdit)), "ok");
    EXPECT_EQ(workspace.outcome(kEdit), "ok");
    EXPECT_EQ(workspace.disk.get("ask/f"), "x\n");
    EXPECT_EQ(workspace.resolve(workspace.asked(kSave)), "ok");
    EXPECT_EQ(workspace.outcome(kSave), "ok");
    EXPECT_EQ(workspace.disk.get("ask/f"), "z\n");
    // Nobody is asked for a save that has nothing to write.
    EXPECT_EQ(workspace.outcome(kSave), "ok");
    EXPECT_EQ(*workspace.last.get("written"), Value(false));
}

TEST(FileApprovals, AnEditThatIsSavedWithItsCallNeedsOneApproval) {
    Workspace workspace;
    workspace.files().set_save(kernel::SaveWhen::on_commit);
    workspace.disk.put("ask/f", "x\n");
    constexpr auto kEdit = R"({"operation":"replace","path":"ask/f","find":"x","replace":"z"})";

    EXPECT_EQ(workspace.resolve(workspace.asked(kEdit)), "ok");
    EXPECT_EQ(workspace.disk.get("ask/f"), "x\n");
    EXPECT_EQ(workspace.outcome(kEdit), "ok");
    EXPECT_EQ(workspace.disk.get("ask/f"), "z\n");
    EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"ask/f"})"), "ok");
}

TEST(FileApprovals, AnEditThatCannotBeSavedWithItsCallChangesNothing) {
    Workspace workspace;
    workspace.files().set_save(kernel::SaveWhen::on_commit);
    workspace.disk.put("f", "x\n");
    std::filesystem::create_hard_link(workspace.disk / "f", workspace.disk / "g");

    EXPECT_EQ(workspace.outcome(R"({"operation":"replace","path":"f","find":"x","replace":"z"})"),
              "hard_linked");
    EXPECT_EQ(workspace.disk.get("f"), "x\n");
    EXPECT_EQ(workspace.content("f"), "x\n");
}

TEST(FileApprovals, NobodyIsAskedToApproveWhatWouldFail) {
    Workspace workspace;
    workspace.disk.put("ask/f", "x\n");

    EXPECT_EQ(workspace.outcome(
                  R"({"operation":"replace","path":"ask/f","find":"y","replace":"z"})"),
              "no_match");
    EXPECT_EQ(workspace.outcome(R"({"operation":"create","path":"ask/f","content":""})"),
              "file_exists");
    EXPECT_EQ(workspace.outcome(R"({"operation":"delete","path":"none"})"), "file_not_found");
    workspace.call_tool("approvals", R"({"operation":"list","all":true})", "human:tom");
    EXPECT_TRUE(workspace.last.get("approvals")->as_list().empty());
}

TEST(FileApprovals, AScopeIsForThePathsInItAndThatOperation) {
    Workspace workspace;
    for (const char* path : {"ask/a.md", "ask/b.md", "ask/b.txt"}) workspace.disk.put(path, "x\n");
    const auto replaced = [](const char* path) {
        return cat(R"({"operation":"replace","path":")", path, R"(","find":"x","replace":"z"})");
    };
    const std::string id = workspace.asked(replaced("ask/a.md"));
    EXPECT_EQ(workspace.resolve(id, "approve_scope", R"(,"scope":"other/**")"), "scope_mismatch");
    EXPECT_EQ(workspace.resolve(id, "approve_scope", R"(,"scope":"ask/*.md")"), "ok");
    EXPECT_EQ(workspace.outcome(replaced("ask/a.md")), "ok");
    EXPECT_EQ(workspace.outcome(replaced("ask/b.md")), "ok");
    EXPECT_EQ(workspace.outcome(replaced("ask/b.txt")), "escalation_required");
    EXPECT_EQ(workspace.outcome(R"({"operation":"delete","path":"ask/a.md"})"),
              "escalation_required");
    // A rule that forbids is not a question.
    workspace.disk.put("ask/c.lock", "x\n");
    EXPECT_EQ(workspace.outcome(replaced("ask/c.lock")), "permission_denied");
}

TEST(FileApprovals, ADeniedCallSaysByWhom) {
    Workspace workspace;
    workspace.disk.put("ask/f", "x\n");
    constexpr auto kEdit = R"({"operation":"append","path":"ask/f","content":"y"})";
    const std::string id = workspace.asked(kEdit);
    EXPECT_EQ(workspace.resolve(id, "deny"), "ok");
    const tools::EncodedResult denied = workspace.call(kEdit);
    EXPECT_TRUE(denied.is_error);
    EXPECT_EQ(denied.text, cat("Nothing was changed: human:tom denied this call (approval ", id,
                               "). Do something else, or ask them."));
}

TEST(FileApprovals, AnAgentDoesNotAnswerItself) {
    Workspace workspace;
    workspace.disk.put("ask/f", "x\n");
    constexpr auto kEdit = R"({"operation":"append","path":"ask/f","content":"y"})";
    const tools::EncodedResult asked = workspace.call(kEdit);
    const std::string id =
        workspace.last.get("error")->get("details")->get("approval_id")->as_string();
    EXPECT_EQ(asked.text,
              cat("Nothing was changed: agent:ada may not append ask/f without a person's "
                  "approval: rule 2 ('ask/**') makes ask/f human.\nApproval ",
                  id, " waits for a person, who answers with: quire approvals approve ", id,
                  " --actor human:NAME. Then make the very same call again."));
    for (const char* by : {"agent:ada", "agent:bob", "system:x", "source:x"}) {
        EXPECT_EQ(workspace.resolve(id, "approve_once", "", by), "permission_denied");
        const tools::EncodedResult refused =
            workspace.call_tool("approvals", R"({"operation":"list"})", by);
        EXPECT_EQ(refused.text, cat("Nothing was changed: Only people answer approvals: ", by,
                                    " may not list or resolve them. Ask a person (human:NAME)."));
    }
    EXPECT_EQ(workspace.resolve(id, "approve_once", R"(,"actor":"human:tom")", "agent:ada"),
              "invalid_arguments");
    EXPECT_EQ(workspace.outcome(kEdit), "escalation_required");
}

TEST(FileApprovals, AListSkipsFilesThatNeedApprovalToBeReadAndAsksNobody) {
    Workspace workspace;
    workspace.disk.put("ask/f", "x\n");
    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "ok");
    EXPECT_EQ(workspace.outcome(R"({"operation":"status"})"), "ok");
    workspace.call_tool("approvals", R"({"operation":"list","all":true})", "human:tom");
    EXPECT_TRUE(workspace.last.get("approvals")->as_list().empty());
}

}  // namespace
}  // namespace quire
