// block_apply_patch and `file patch` on a real directory: what an agent says in JSON, what then
// lies on the disk.
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/concat.h"
#include "json/json.h"
#include "tests/flows/workspace.h"

namespace quire {
namespace {

std::string replaces(const std::string& name, const std::string& from, const std::string& to) {
    return cat("--- a/", name, "\n+++ b/", name, "\n@@ -1 +1 @@\n-", from, "\n+", to, "\n");
}

// The answer's text; Workspace::last is its structure.
std::string apply_patch(Workspace& workspace, const std::string& patch, const std::string& more = "",
                  const std::string& actor = "agent:ada") {
    return workspace
        .call_tool("block_apply_patch", cat(R"({"patch":)", json::write(Value(patch)), more, "}"),
                   actor)
        .text;
}
std::string reason(const Workspace& workspace) {
    const Value* const error = workspace.last.get("error");
    return error == nullptr ? "ok" : error->get("reason")->as_string();
}
const Value& details(const Workspace& workspace) {
    return *workspace.last.get("error")->get("details");
}

TEST(PatchTools, APatchAnswersForEachBlock) {
    Workspace workspace;
    workspace.disk.put("f", "one\ntwo \nthree\n");
    workspace.call_tool("block_create", R"({"role":"user","kind":"text","content":"hi\n"})");
    const std::string id = workspace.last.get("block_id")->as_string();

    const std::string text = apply_patch(
        workspace, cat("--- a/f\n+++ b/f\n@@ -2,2 +2,2 @@\n two\n-three\n+3\n",
                       replaces(id, "hi", "ho")));

    ASSERT_EQ(reason(workspace), "ok") << text;
    EXPECT_EQ(*workspace.last.get("success"), Value(true));
    const List& blocks = workspace.last.get("blocks")->as_list();
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(*blocks[0].get("path"), Value("f"));
    EXPECT_EQ(*blocks[0].get("version"), Value(2));
    EXPECT_EQ(json::write(*blocks[0].get("hunks")), R"([{"applied_at":2,"fuzz":1}])");
    EXPECT_EQ(*blocks[1].get("block_id"), Value(id));
    EXPECT_EQ(blocks[1].get("path"), nullptr);
    EXPECT_EQ(*workspace.last.get("diff"),
              Value(cat("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n two \n-three\n+3\n",
                        replaces(id, "hi", "ho"))));
    EXPECT_NE(text.find("fuzz 1"), std::string::npos) << text;
    EXPECT_EQ(workspace.content("f"), "one\ntwo \n3\n");
    EXPECT_EQ(workspace.disk.get("f"), "one\ntwo \nthree\n");
}

TEST(PatchTools, TheModelProfileCountsLinesFromOne) {
    Workspace workspace(Profile::model);
    workspace.disk.put("f", "one\ntwo\none\n");

    apply_patch(workspace, "@@ -2 +2 @@\n-two\n+2\n", R"(,"block_id":"file:f")");
    ASSERT_EQ(reason(workspace), "ok") << json::write(workspace.last);
    EXPECT_EQ(json::write(*workspace.last.get("blocks")->as_list()[0].get("hunks")),
              R"([{"applied_at":2,"fuzz":0}])");

    const std::string text = apply_patch(workspace, "@@ -9 +9 @@\n-one\n+1\n", R"(,"block_id":"file:f")");
    EXPECT_EQ(reason(workspace), "ambiguous_hunk");
    EXPECT_EQ(json::write(*details(workspace).get("lines")), "[1,3]");
    EXPECT_NE(text.find("at lines 1, 3"), std::string::npos) << text;
}

TEST(PatchTools, ADryRunShowsItsDiffAndChangesNothing) {
    Workspace workspace(Profile::model);
    workspace.disk.put("f", "one\n");

    const std::string text = apply_patch(workspace, replaces("f", "one", "1"), R"(,"dry_run":true)");

    EXPECT_EQ(reason(workspace), "ok");
    EXPECT_EQ(*workspace.last.get("blocks")->as_list()[0].get("version"), Value(1));
    EXPECT_EQ(text.rfind("Nothing was changed", 0), 0U) << text;
    EXPECT_NE(text.find("-one\n+1\n"), std::string::npos) << text;
    EXPECT_EQ(workspace.content("f"), "1\tone\n");
}

TEST(PatchTools, OneFileIsPatchedByTheToolFile) {
    Workspace workspace;
    workspace.disk.put("f", "one\ntwo\n");

    EXPECT_EQ(workspace.outcome(
                  R"({"operation":"patch","path":"f",
                      "patch":"--- x\n+++ x\n@@ -1 +1 @@\n-one\n+1\n"})"),
              "ok");
    EXPECT_EQ(*workspace.last.get("path"), Value("f"));
    EXPECT_EQ(*workspace.last.get("version"), Value(2));
    EXPECT_EQ(json::write(*workspace.last.get("hunks")), R"([{"applied_at":0,"fuzz":0}])");
    EXPECT_EQ(workspace.content("f"), "1\ntwo\n");
    EXPECT_EQ(
        workspace.outcome(R"({"operation":"patch","path":"f","patch":"@@ -1 +1 @@\n-one\n+1\n"})"),
        "hunk_not_found");
    EXPECT_EQ(workspace.outcome(R"({"operation":"patch","path":"f","patch":"nothing"})"),
              "invalid_patch");
    EXPECT_EQ(*details(workspace).get("patch_line"), Value(1));
    EXPECT_EQ(
        workspace.outcome(
            R"({"operation":"patch","path":"f",
                "patch":"--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"})"),
        "invalid_patch");
}

TEST(PatchTools, APersonIsAskedAboutEachFileOnce) {
    Workspace workspace;
    workspace.disk.put("ask/f", "one\n");
    workspace.disk.put("ask/g", "two\n");
    workspace.disk.put("h", "three\n");
    const std::string patch = cat(replaces("ask/f", "one", "1"), replaces("ask/g", "two", "2"),
                                  replaces("h", "three", "3"));

    apply_patch(workspace, patch);
    ASSERT_EQ(reason(workspace), "escalation_required");
    const List ids = details(workspace).get("approval_ids")->as_list();
    ASSERT_EQ(ids.size(), 2U);
    EXPECT_EQ(*details(workspace).get("approval_id"), ids[0]);
    EXPECT_EQ(workspace.resolve(ids[0].as_string()), "ok");
    apply_patch(workspace, patch);
    ASSERT_EQ(reason(workspace), "escalation_required");
    EXPECT_EQ(*details(workspace).get("approval_id"), ids[1]);
    EXPECT_EQ(workspace.content("h"), "three\n");

    EXPECT_EQ(workspace.resolve(ids[1].as_string()), "ok");
    apply_patch(workspace, patch);
    EXPECT_EQ(reason(workspace), "ok") << json::write(workspace.last);
    EXPECT_EQ(workspace.content("h"), "3\n");
    EXPECT_EQ(workspace.content("ask/f"), "1\n");
}

TEST(PatchTools, AFileThatCannotBeWrittenGivesTheOthersTheirBytesBack) {
    Workspace workspace;
    workspace.files().set_save(kernel::SaveWhen::on_commit);
    workspace.disk.put("f", "one\n");
    workspace.disk.put("g", "two\n");
    ASSERT_EQ(link((workspace.disk.path() + "/g").c_str(), (workspace.disk.path() + "/h").c_str()),
              0);

    const std::string text =
        apply_patch(workspace, cat(replaces("f", "one", "1"), replaces("g", "two", "2")));

    EXPECT_EQ(reason(workspace), "hard_linked");
    EXPECT_NE(text.find("have their bytes back"), std::string::npos) << text;
    EXPECT_EQ(workspace.disk.get("f"), "one\n");
    EXPECT_EQ(workspace.disk.get("g"), "two\n");
    EXPECT_EQ(workspace.content("f"), "one\n");
    apply_patch(workspace, replaces("f", "one", "1"));
    EXPECT_EQ(reason(workspace), "ok");
    EXPECT_EQ(workspace.disk.get("f"), "1\n");
}

TEST(PatchTools, MemoryIsNotPatched) {
    Workspace workspace;
    kernel::MemoryCreate what;
    what.label = "notes";
    what.schema = Value("Text");
    workspace.remember("agent:ada", what);

    apply_patch(workspace, "@@ -1 +1 @@\n-one\n+1\n", R"(,"block_id":"memory:notes")");
    EXPECT_EQ(reason(workspace), "memory_block");
    apply_patch(workspace, replaces("memory:notes", "one", "1"));
    EXPECT_EQ(reason(workspace), "memory_block");
}

TEST(PatchTools, APendingBlockRunsOnceItIsPatched) {
    Workspace workspace;
    workspace.call_tool("block_create", R"({"role":"user","kind":"text","content":"hi\n"})");
    const std::string id = workspace.last.get("block_id")->as_string();

    apply_patch(workspace, replaces(id, "hi", "ho"));
    workspace.call_tool("block_read", cat(R"({"block_id":")", id, "\"}"));

    EXPECT_EQ(*workspace.last.get("status"), Value("running"));
}

}  // namespace
}  // namespace quire
