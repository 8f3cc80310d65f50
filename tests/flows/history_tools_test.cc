// The tools that show the past and go back to it: file_history, block_diff, block_rollback.
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "tests/flows/workspace.h"

namespace quire {
namespace {

std::string reason_of(const tools::EncodedResult& result) {
    const Value* const error = result.structured.get("error");
    return error == nullptr ? "ok" : error->get("reason")->as_string();
}
std::string member(const Workspace& workspace, std::string_view name) {
    const Value* const value = workspace.last.get(name);
    return value == nullptr ? "<none>" : value->is_string() ? value->as_string() : json::write(*value);
}

TEST(HistoryTools, AFileGoesBackAndForth) {
    for (const Profile profile : {Profile::model, Profile::full}) {
        Workspace workspace(profile);
        workspace.disk.put("a.txt", "one\ntwo\n");
        ASSERT_EQ(workspace.outcome(
                      R"({"operation":"replace","path":"a.txt","find":"two","replace":"2"})"),
                  "ok");
        const auto call = [&](std::string_view arguments, const std::string& by = "agent:ada") {
            return reason_of(workspace.call_tool("file_history", arguments, by));
        };

        EXPECT_EQ(call(R"({"operation":"diff","path":"a.txt"})"), "ok");
        EXPECT_EQ(member(workspace, "diff"),
                  "--- a.txt\ton disk\n+++ a.txt\tversion 2\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
        EXPECT_EQ(member(workspace, "version"), "2");

        EXPECT_EQ(call(R"({"operation":"view","path":"a.txt","limit":1})"), "ok");
        const Value newest = workspace.last.get("versions")->as_list().at(0);
        EXPECT_EQ(*newest.get("version_id"), Value("2"));
        EXPECT_EQ(*newest.get("actor"), Value("agent:ada"));
        EXPECT_EQ(*newest.get("description"), Value("replace"));
        EXPECT_EQ(member(workspace, "next_cursor"), "2");
        EXPECT_EQ(call(R"({"operation":"view","path":"a.txt","cursor":"2"})"), "ok");
        EXPECT_EQ(*workspace.last.get("versions")->as_list().at(0).get("actor"),
                  Value("source:disk"));

        EXPECT_EQ(call(R"({"operation":"rollback","path":"a.txt","version_id":"1"})", "agent:bo"),
                  "ok");
        EXPECT_EQ(member(workspace, "version"), "3");
        EXPECT_NE(member(workspace, "block_id"), "<none>");
        EXPECT_EQ(call(R"({"operation":"diff","path":"a.txt"})"), "ok");
        EXPECT_EQ(member(workspace, "diff"), "");
        EXPECT_EQ(call(R"({"operation":"diff","path":"a.txt","from":"2","to":"3"})"), "ok");
        EXPECT_EQ(member(workspace, "diff"),
                  "--- a.txt\tversion 2\n+++ a.txt\tversion 3\n@@ -1,2 +1,2 @@\n one\n-2\n+two\n");

        EXPECT_EQ(call(R"({"operation":"rollback","path":"a.txt","version_id":"12"})"),
                  "invalid_reference");
        EXPECT_EQ(call(R"({"operation":"view","path":"b.txt"})"), "file_not_found");
        EXPECT_EQ(call(R"({"operation":"diff","path":"../b.txt"})"), "outside_workspace");
    }
}

TEST(HistoryTools, ARollbackIsAskedForWhereAnEditIs) {
    Workspace workspace;
    workspace.disk.put("ask/f", "one\n");
    const std::string back = R"({"operation":"rollback","path":"ask/f","version_id":"1"})";
    ASSERT_EQ(workspace.outcome(R"({"operation":"read","path":"ask/f"})"), "ok");
    workspace.disk.put("ask/f", "one\ntwo\n");
    ASSERT_EQ(workspace.outcome(R"({"operation":"read","path":"ask/f"})"), "ok");
    EXPECT_EQ(reason_of(workspace.call_tool(
                  "file_history", R"({"operation":"rollback","path":"ask/f","version_id":"9"})")),
              "invalid_reference");

    EXPECT_EQ(reason_of(workspace.call_tool("file_history", back)), "escalation_required");
    const std::string id =
        workspace.last.get("error")->get("details")->get("approval_id")->as_string();
    EXPECT_EQ(workspace.content("ask/f"), "one\ntwo\n");
    ASSERT_EQ(workspace.resolve(id), "ok");
    EXPECT_EQ(reason_of(workspace.call_tool("file_history", back)), "ok");
    EXPECT_EQ(workspace.content("ask/f"), "one\n");
    EXPECT_EQ(reason_of(workspace.call_tool("file_history", back)), "escalation_required");
}

TEST(HistoryTools, EveryBlockToolSavesAFileWhereEditsAreSaved) {
    for (const Profile profile : {Profile::full, Profile::model}) {
        Workspace workspace(profile);
        workspace.files().set_save(kernel::SaveWhen::on_commit);
        workspace.disk.put("f", "one\ntwo\n");
        const auto call = [&](std::string_view tool, std::string_view more) {
            const tools::EncodedResult made =
                workspace.call_tool(tool, cat(R"({"block_id":"file:f",)", more, "}"));
            return cat(reason_of(made), " ", workspace.disk.get("f"));
        };
        if (profile == Profile::full) {
            EXPECT_EQ(call("block_edit",
                           R"("operations":[{"op":"replace","start_line":0,"end_line":1,"content":"1"}])"),
                      "ok 1\ntwo\n");
            EXPECT_EQ(call("block_splice", R"("offset":0,"delete_count":1,"insert":"one")"),
                      "ok one\ntwo\n");
        } else {
            EXPECT_EQ(call("block_str_replace", R"("old_str":"one","new_str":"1")"), "ok 1\ntwo\n");
            EXPECT_EQ(call("block_insert", R"("insert_line":0,"insert_text":"top\n")"),
                      "ok top\n1\ntwo\n");
            EXPECT_EQ(call("block_replace_lines",
                           R"("start_line":1,"end_line":2,"new_text":"one\n","expected_text":"top\n1\n")"),
                      "ok one\ntwo\n");
        }
        EXPECT_EQ(call("block_append", R"("text":"three\n")"), "ok one\ntwo\nthree\n");
        const bool full = profile == Profile::full;
        EXPECT_EQ(call("block_undo", full ? R"("scope":"own")" : R"("redo":false)"),
                  "ok one\ntwo\n");
        EXPECT_EQ(full ? call("block_redo", R"("scope":"own")") : call("block_undo", R"("redo":true)"),
                  "ok one\ntwo\nthree\n");
        EXPECT_FALSE(workspace.last.get("error"));
    }
}

TEST(HistoryTools, ABlockOfEachKindHasDifferences) {
    Workspace workspace;
    kernel::MemoryCreate notes;
    notes.label = "notes";
    notes.schema = Value("Text");
    notes.content = "one\n";
    workspace.remember("agent:ada", std::move(notes));
    const auto call = [&](std::string_view tool, std::string_view arguments) {
        return reason_of(workspace.call_tool(tool, arguments));
    };
    workspace.disk.put("a.txt", "one\n");
    ASSERT_EQ(call("block_splice",
                   R"({"block_id":"file:a.txt","offset":0,"delete_count":3,"insert":"1"})"),
              "ok");
    EXPECT_EQ(call("block_diff", R"({"block_id":"file:a.txt"})"), "ok");
    EXPECT_EQ(member(workspace, "diff"),
              "--- a.txt\ton disk\n+++ a.txt\tversion 2\n@@ -1 +1 @@\n-one\n+1\n");
    EXPECT_EQ(member(workspace, "path"), "a.txt");
    EXPECT_EQ(call("block_rollback", R"({"block_id":"file:a.txt","version_id":"1"})"), "ok");
    EXPECT_EQ(member(workspace, "version"), "3");
    EXPECT_EQ(workspace.content("a.txt"), "one\n");

    EXPECT_EQ(call("block_diff", R"({"block_id":"memory:notes"})"), "ok");
    EXPECT_EQ(member(workspace, "label"), "notes");
    EXPECT_EQ(call("block_rollback", R"({"block_id":"memory:notes","version_id":"1"})"),
              "memory_block");

    ASSERT_EQ(call("block_create", R"({"role":"user","kind":"text","content":"a\n"})"), "ok");
    const std::string id = member(workspace, "block_id");
    ASSERT_EQ(call("block_append", cat(R"({"block_id":")", id, R"(","text":"b\n"})")), "ok");
    EXPECT_EQ(call("block_diff", cat(R"({"block_id":")", id, "\"}")), "ok");
    EXPECT_EQ(member(workspace, "diff"),
              cat("--- ", id, "\tversion 1\n+++ ", id, "\tversion 2\n@@ -1 +1,2 @@\n a\n+b\n"));
    EXPECT_EQ(call("block_rollback", cat(R"({"block_id":")", id, R"(","version_id":"1"})")), "ok");
    EXPECT_EQ(call("block_undo", cat(R"({"block_id":")", id, "\"}")), "ok");
    EXPECT_EQ(call("block_diff", cat(R"({"block_id":")", id, R"(","from":"2"})")), "ok");
    EXPECT_EQ(member(workspace, "diff"), "");
}

}  // namespace
}  // namespace quire
