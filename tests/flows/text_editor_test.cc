// The text editor of profile `compat` on a real directory: what a model says, and what then lies on
// the disk.
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/words_for_test.h"
#include "json/json.h"
#include "tests/flows/workspace.h"

namespace quire {
namespace {

class TextEditor : public testing::Test {
protected:
    // The text of an answer that must be no refusal.
    std::string said(std::string_view arguments, const std::string& actor = "agent:ada") {
        tools::EncodedResult result = workspace.call(arguments, actor);
        EXPECT_FALSE(result.is_error) << arguments << ": " << result.text;
        return std::move(result.text);
    }
    // "REASON: text" of a refusal.
    std::string refused(std::string_view arguments, const std::string& actor = "agent:ada") {
        tools::EncodedResult result = workspace.call(arguments, actor);
        EXPECT_TRUE(result.is_error) << arguments << ": " << result.text;
        EXPECT_TRUE(result.text.starts_with("Nothing was changed: ")) << result.text;
        const Value* error = result.structured.get("error");
        return cat(error == nullptr ? "" : error->get("reason")->as_string(), ": ", result.text);
    }

    Workspace workspace{Profile::compat};
};

TEST_F(TextEditor, WrittenTextIsOnTheDiskAndShownUnchanged) {
    EXPECT_EQ(said(R"({"command":"create","path":"a/b.txt","file_text":"one\ntwo\nthree\n"})"),
              "File created successfully at: a/b.txt\n");
    EXPECT_EQ(workspace.disk.get("a/b.txt"), "one\ntwo\nthree\n");

    EXPECT_EQ(
        said(R"({"command":"str_replace","path":"a/b.txt","old_str":"two","new_str":"2\n2½"})"),
        "The file a/b.txt has been edited. Here's the result of running `cat -n` on a snippet of "
        "a/b.txt:\n     1\tone\n     2\t2\n     3\t2½\n     4\tthree\n");
    EXPECT_EQ(*workspace.last.get("saved"), Value(true));
    EXPECT_EQ(*workspace.last.get("version"), Value(2));
    EXPECT_EQ(workspace.disk.get("a/b.txt"), "one\n2\n2½\nthree\n");

    said(R"({"command":"insert","path":"a/b.txt","insert_line":0,"insert_text":"zero"})");
    said(R"({"command":"insert","path":"a/b.txt","insert_line":5,"new_str":"end\n"})");
    said(R"({"command":"str_replace","path":"a/b.txt","old_str":"2\n"})");
    EXPECT_EQ(workspace.disk.get("a/b.txt"), "zero\none\n2½\nthree\nend\n");

    EXPECT_EQ(said(R"({"command":"view","path":"a/b.txt","view_range":[4,-1]})"),
              "Here's the result of running `cat -n` on a/b.txt:\n     4\tthree\n     5\tend\n");
    EXPECT_EQ(*workspace.last.get("line_count"), Value(5));
}

// undo_edit belongs to an older form of the tool, and is accepted without being published.
TEST_F(TextEditor, UndoEditTakesBackTheCallersLastChange) {
    workspace.disk.put("f.txt", "one\ntwo\n");
    said(R"({"command":"str_replace","path":"f.txt","old_str":"one","new_str":"1"})");
    said(R"({"command":"str_replace","path":"f.txt","old_str":"two","new_str":"2"})", "agent:bob");
    const std::string undone = said(R"({"command":"undo_edit","path":"f.txt"})");
    EXPECT_TRUE(holds(undone, "The last edit of f.txt was undone.")) << undone;
    EXPECT_TRUE(holds(undone, "     1\tone\n")) << undone;
    EXPECT_EQ(*workspace.last.get("saved"), Value(true));
    EXPECT_EQ(workspace.disk.get("f.txt"), "one\n2\n");
    EXPECT_TRUE(holds(refused(R"({"command":"undo_edit","path":"f.txt"})"), "nothing_to_undo: "));
    EXPECT_TRUE(holds(refused(R"({"command":"undo_edit","path":"no.txt"})"), "file_not_found: "));
    EXPECT_TRUE(holds(refused(R"({"command":"undo_edit"})"), "path"));
}

TEST_F(TextEditor, ADirectoryIsListedTwoLevelsDeep) {
    workspace.disk.put("src/a.cc", "");
    workspace.disk.put("src/deep/er/b.cc", "");
    workspace.disk.put("src/.hidden/c", "");
    workspace.disk.put("other/x", "");
    workspace.disk.put("README.md", "");

    EXPECT_TRUE(said(R"({"command":"view","path":"."})")
                    .ends_with(":\nREADME.md\nother/\nother/x\nsrc/\nsrc/a.cc\nsrc/deep/\n"))
        << json::write(workspace.last);
    EXPECT_TRUE(said(R"({"command":"view","path":"src/"})")
                    .ends_with(":\nsrc/a.cc\nsrc/deep/\nsrc/deep/er/\n"))
        << json::write(workspace.last);
}

TEST_F(TextEditor, RefusalsUseTheWordsThatModelsKnow) {
    workspace.disk.put("f.txt", "same\nother\nsame\n");

    EXPECT_TRUE(holds(refused(R"({"command":"str_replace","path":"f.txt","old_str":"Same"})"),
                      "no_match: Nothing was changed: No replacement was performed, old_str `Same` "
                      "did not appear verbatim in f.txt."));
    const std::string twice =
        refused(R"({"command":"str_replace","path":"f.txt","old_str":"same"})");
    EXPECT_TRUE(holds(twice,
                      "not_unique: Nothing was changed: No replacement was performed. Multiple "
                      "occurrences of old_str `same` in lines [1, 3]. Please ensure it is unique."))
        << twice;
    EXPECT_FALSE(holds(twice, "replace_all"));
    EXPECT_TRUE(holds(
        refused(R"({"command":"insert","path":"f.txt","insert_line":9,"insert_text":"x"})"),
        "line_out_of_range: Nothing was changed: Invalid `insert_line` parameter: 9. It should "
        "be within the range of lines of the file: [0, 3]."));
    EXPECT_TRUE(holds(refused(R"({"command":"create","path":"f.txt","file_text":"x"})"),
                      "file_exists: Nothing was changed: File already exists at: f.txt."));
    EXPECT_TRUE(holds(refused(R"({"command":"view","path":"no.txt"})"),
                      "file_not_found: Nothing was changed: The path no.txt does not exist."));
    EXPECT_TRUE(holds(refused(R"({"command":"view","path":"f.txt","view_range":[3,2]})"),
                      "invalid_range: Nothing was changed: Invalid `view_range`: [3, 2]."));
    EXPECT_TRUE(holds(refused(R"({"command":"view","path":"f.txt","view_range":[4,4]})"),
                      "line 4 is past the end: the block has 3 lines. Valid lines: 1 to 3"));
    EXPECT_EQ(workspace.disk.get("f.txt"), "same\nother\nsame\n");
}

TEST_F(TextEditor, ACommandTakesItsOwnArgumentsOnly) {
    workspace.disk.put("f.txt", "a\n");

    EXPECT_TRUE(holds(refused(R"({"command":"create","path":"g"})"), "needs file_text"));
    EXPECT_TRUE(holds(refused(R"({"command":"view","path":"f.txt","old_str":"a"})"),
                      "command view does not take old_str"));
    EXPECT_TRUE(holds(refused(R"({"command":"insert","path":"f.txt","insert_line":0})"),
                      "needs insert_text"));
    const std::string empty =
        refused(R"({"command":"insert","path":"f.txt","insert_line":0,"insert_text":""})");
    EXPECT_TRUE(holds(empty, "command str_replace with new_str \"\" deletes text")) << empty;
    for (const char* range : {"[1]", "[1,2,3]", "[\"1\",2]", "1"}) {
        EXPECT_TRUE(refused(cat(R"({"command":"view","path":"f.txt","view_range":)", range, "}"))
                        .starts_with("invalid_argument"))
            << range;
    }
    EXPECT_TRUE(refused(R"({"command":"undo","path":"f.txt"})").starts_with("invalid_arg"));
}

TEST_F(TextEditor, TheRulesOfFilesHoldHere) {
    workspace.disk.put("yarn.lock", "a\n");

    for (const char* call : {R"({"command":"str_replace","path":"yarn.lock","old_str":"a"})",
                             R"({"command":"create","path":"new.lock","file_text":"a"})"}) {
        EXPECT_TRUE(refused(call).starts_with("permission_denied")) << call;
    }
    EXPECT_TRUE(refused(R"({"command":"view","path":"../x"})").starts_with("outside_workspace"));
    EXPECT_TRUE(refused(R"({"command":"view","path":"/etc/passwd"})").starts_with("outside_work"));
    EXPECT_EQ(workspace.disk.get("yarn.lock"), "a\n");
}

TEST_F(TextEditor, OneApprovalIsForTheEditAndItsSaving) {
    workspace.disk.put("ask/f", "a\n");
    constexpr auto kEdit =
        R"({"command":"str_replace","path":"ask/f","old_str":"a","new_str":"b"})";
    constexpr auto kCreate = R"({"command":"create","path":"ask/g","file_text":"a"})";

    EXPECT_EQ(workspace.resolve(workspace.asked(kEdit)), "ok");
    EXPECT_EQ(workspace.resolve(workspace.asked(kCreate)), "ok");
    said(kEdit);
    EXPECT_EQ(*workspace.last.get("saved"), Value(true));
    EXPECT_EQ(workspace.disk.get("ask/f"), "b\n");
    said(kCreate);

    workspace.disk.put("ask/f", "a\n");
    EXPECT_EQ(workspace.outcome(kEdit), "escalation_required");
}

TEST_F(TextEditor, AnEditThatCannotBeSavedIsInTheWorkspaceAndSaysSo) {
    workspace.disk.put("f.txt", "a\n");
    ASSERT_EQ(::link((workspace.disk / "f.txt").c_str(), (workspace.disk / "g").c_str()), 0);

    const std::string text =
        said(R"({"command":"str_replace","path":"f.txt","old_str":"a","new_str":"b"})");

    EXPECT_TRUE(holds(text, "is in the workspace and not on the disk")) << text;
    EXPECT_EQ(*workspace.last.get("saved"), Value(false));
    EXPECT_EQ(workspace.disk.get("f.txt"), "a\n");
    EXPECT_TRUE(holds(said(R"({"command":"view","path":"f.txt"})"), "     1\tb\n"));
}

}  // namespace
}  // namespace quire
