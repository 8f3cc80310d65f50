// The tool memory of profile `compat`: what a model says and is answered, and what the tool context
// then has.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/words_for_test.h"
#include "json/json.h"
#include "kernel/core/desk_test.h"
#include "kernel/memory/memory_calls.h"
#include "tests/flows/published.h"
#include "tools/tools.h"

namespace quire {
namespace {

class MemoryTool : public testing::Test {
protected:
    MemoryTool() { set_out(); }

    void set_out() {
        memory_ = std::make_unique<kernel::MemoryCalls>(*desk.kernel);
        registry_ = std::make_unique<tools::Registry>(tools::Registry::Parts{*desk.kernel});
        registry_->add(tools::Profile::compat,
                       tools::make_context(*memory_, tools::Profile::compat));
        registry_->add(tools::Profile::compat, tools::make_memory(*desk.kernel, *memory_));
    }
    void restart() {
        registry_.reset();
        memory_.reset();
        desk.restart();
        set_out();
    }

    tools::EncodedResult call(std::string_view tool, std::string_view arguments,
                              const std::string& by) {
        tools::Session session;
        session.caller.actor = policy::Actor::parse(by).value();
        session.profile = tools::Profile::compat;
        std::optional<Result<tools::EncodedResult>> answer;
        registry_->call(
            session, tool, json::parse(arguments).value(),
            [&](Result<tools::ToolResult> result) { answer = encoded(std::move(result)); });
        desk.scheduler.run_all();
        EXPECT_TRUE(answer && *answer);
        last = (*answer)->structured;
        expect_published(*registry_, tools::Profile::compat, tool, **answer);
        return std::move(**answer);
    }
    // The text of an answer that must be no refusal.
    std::string said(std::string_view arguments, const std::string& by = "agent:ada") {
        tools::EncodedResult result = call("memory", arguments, by);
        EXPECT_FALSE(result.is_error) << arguments << ": " << result.text;
        return std::move(result.text);
    }
    // "REASON: text" of a refusal.
    std::string refused(std::string_view arguments, const std::string& by = "agent:ada") {
        const tools::EncodedResult result = call("memory", arguments, by);
        EXPECT_TRUE(result.is_error) << arguments << ": " << result.text;
        const Value* error = last.get("error");
        return cat(error == nullptr ? "" : error->get("reason")->as_string(), ": ", result.text);
    }
    void context(std::string_view arguments, const std::string& by = "agent:ada") {
        const tools::EncodedResult result = call("context", arguments, by);
        EXPECT_FALSE(result.is_error) << arguments << ": " << result.text;
    }
    std::string value(const std::string& label) {
        context(cat(R"({"operation":"view","label":")", label, R"("})"), "system:test");
        return last.get("value")->as_string();
    }

    kernel::Desk desk;
    Value last;

private:
    std::unique_ptr<kernel::MemoryCalls> memory_;
    std::unique_ptr<tools::Registry> registry_;
};

TEST_F(MemoryTool, TheSixCommandsDoWhatModelsKnow) {
    EXPECT_EQ(
        said(
            R"({"command":"create","path":"/memories/notes.txt","file_text":"one\ntwo\nthree\n"})"),
        "File created successfully at: /memories/notes.txt\n");
    EXPECT_EQ(*last.get("label"), Value("notes.txt"));
    EXPECT_EQ(*last.get("version"), Value(1));

    EXPECT_EQ(
        said(
            R"({"command":"str_replace","path":"/memories/notes.txt","old_str":"two","new_str":"2½"})"),
        "The memory file has been edited. Here's the result of running `cat -n` on a snippet of "
        "it:\n     1\tone\n     2\t2½\n     3\tthree\n");
    EXPECT_EQ(*last.get("version"), Value(2));
    said(
        R"({"command":"insert","path":"/memories/notes.txt","insert_line":0,"insert_text":"zero"})");
    EXPECT_EQ(said(R"({"command":"view","path":"/memories/notes.txt"})"),
              "Here's the content of /memories/notes.txt with line numbers:\n     1\tzero\n"
              "     2\tone\n     3\t2½\n     4\tthree\n");
    EXPECT_EQ(said(R"({"command":"view","path":"/memories/notes.txt","view_range":[3,-1]})"),
              "Here's the content of /memories/notes.txt with line numbers:\n     3\t2½\n"
              "     4\tthree\n");
    EXPECT_EQ(
        said(
            R"({"command":"rename","old_path":"/memories/notes.txt","new_path":"/memories/a/b.md"})"),
        "Successfully renamed /memories/notes.txt to /memories/a/b.md\n");
    EXPECT_EQ(value("a/b.md"), "zero\none\n2½\nthree\n");
    EXPECT_TRUE(holds(refused(R"({"command":"view","path":"/memories/notes.txt"})"),
                      "invalid_reference: "));
    EXPECT_EQ(said(R"({"command":"delete","path":"/memories/a/b.md"})"),
              "Successfully deleted /memories/a/b.md\n");
    EXPECT_TRUE(holds(refused(R"({"command":"view","path":"/memories/a/b.md"})"),
                      "The path /memories/a/b.md does not exist. Please provide a valid path."));
}

TEST_F(MemoryTool, AnEditIsAWriteWithHistoryAndUndo) {
    said(R"({"command":"create","path":"/memories/n","file_text":"tea\n"})");
    said(R"({"command":"str_replace","path":"/memories/n","old_str":"tea","new_str":"coffee"})");
    said(R"({"command":"rename","old_path":"/memories/n","new_path":"/memories/m"})");
    restart();
    EXPECT_EQ(value("m"), "coffee\n");
    context(R"({"operation":"history","label":"m"})");
    std::string history;
    for (const Value& each : last.get("versions")->as_list())
        history += cat(each.get("description")->as_string(), "; ");
    EXPECT_EQ(history, "rename m; str_replace; create; ");
    context(R"({"operation":"undo","label":"m"})");
    EXPECT_EQ(value("m"), "tea\n");
    // The text that a block was created with is not a write to undo.
    const tools::EncodedResult more =
        call("context", R"({"operation":"undo","label":"m"})", "agent:ada");
    EXPECT_TRUE(more.is_error);
    EXPECT_EQ(value("m"), "tea\n");
}

TEST_F(MemoryTool, UndoBringsALineBackBeforeWhatAnotherAddedBehindIt) {
    const auto mel = [&](std::string_view arguments) { said(arguments, "agent:mel"); };
    const auto undo = [&] { context(R"({"operation":"undo","label":"n"})", "agent:mel"); };
    mel(R"({"command":"create","path":"/memories/n","file_text":""})");
    context(R"({"operation":"share","label":"n","with":"ada"})", "agent:mel");
    mel(R"({"command":"insert","path":"/memories/n","insert_line":0,"insert_text":"first\n"})");
    mel(R"({"command":"str_replace","path":"/memories/n","old_str":"first","new_str":"second"})");
    mel(R"({"command":"str_replace","path":"/memories/n","old_str":"second\n","new_str":""})");
    undo();
    EXPECT_EQ(value("n"), "second\n");
    said(R"({"command":"insert","path":"/memories/n","insert_line":1,"insert_text":"of ada\n"})",
         "agent:ada");

    undo();

    EXPECT_EQ(value("n"), "first\nof ada\n");
}

TEST_F(MemoryTool, UndoBringsALastLineWithoutItsNewlineBackBeforeWhatAnotherAdded) {
    said(R"({"command":"create","path":"/memories/n","file_text":"first"})", "agent:mel");
    context(R"({"operation":"share","label":"n","with":"ada"})", "agent:mel");
    said(R"({"command":"str_replace","path":"/memories/n","old_str":"first","new_str":"second"})",
         "agent:mel");
    context(R"({"operation":"append","label":"n","content":" of ada"})");

    context(R"({"operation":"undo","label":"n"})", "agent:mel");

    EXPECT_EQ(value("n"), "first of ada");
}

TEST_F(MemoryTool, ADirectoryIsACommonPrefixOfLabels) {
    for (const char* path : {"a.md", "deep/er/x", "deep/y", ".hidden/z"}) {
        said(cat(R"({"command":"create","path":"/memories/)", path, R"(","file_text":"x"})"));
    }
    context(R"({"operation":"create","label":"plan","template":"task_list"})");
    context(R"({"operation":"create","label":"old","schema":"Text"})");
    context(R"({"operation":"archive","label":"old","archival_label":"older"})");
    context(R"({"operation":"create","label":"theirs","schema":"Text"})", "agent:bo");

    EXPECT_EQ(
        said(R"({"command":"view","path":"/memories"})"),
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden "
        "items:\n/memories/a.md\n/memories/deep/\n/memories/deep/er/\n/memories/deep/y\n");
    const std::string below = "/memories/deep/er/\n/memories/deep/er/x\n/memories/deep/y\n";
    for (const char* path : {"/memories/deep", "/memories/deep/"}) {
        EXPECT_EQ(said(cat(R"({"command":"view","path":")", path, R"("})")),
                  cat("Here're the files and directories up to 2 levels deep in ", path,
                      ", excluding hidden items:\n", below));
    }
    EXPECT_EQ(last.get("entries")->as_list().size(), 3U);
    for (const char* call :
         {R"({"command":"delete","path":"/memories/deep"})",
          R"({"command":"rename","old_path":"/memories/deep","new_path":"/memories/d"})"}) {
        EXPECT_TRUE(holds(refused(call),
                          "is_directory: Nothing was changed: /memories/deep is a "
                          "directory with 2 memories in it"))
            << last.get("error")->get("message")->as_string();
    }
    EXPECT_TRUE(holds(refused(R"({"command":"view","path":"/memories/deep","view_range":[1,2]})"),
                      "not allowed when `path` points to a directory"));
    EXPECT_TRUE(holds(refused(R"({"command":"view","path":"/memories/none/"})"), "does not exist"));
}

TEST_F(MemoryTool, AnEmptyWorkspaceHasAnEmptyDirectory) {
    EXPECT_EQ(
        said(R"({"command":"view","path":"/memories"})"),
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden "
        "items:\n");
    said(R"({"command":"create","path":"/memories/empty","file_text":""})");
    EXPECT_EQ(said(R"({"command":"view","path":"/memories/empty"})"),
              "Here's the content of /memories/empty with line numbers:\n");
}

TEST_F(MemoryTool, RefusalsReadAsModelsKnowThemAndChangeNothing) {
    said(R"({"command":"create","path":"/memories/n","file_text":"a\nb\na\n"})");
    said(R"({"command":"create","path":"/memories/m","file_text":""})");
    const struct {
        const char* arguments;
        const char* says;
    } cases[] = {
        {R"({"command":"create","path":"/memories/n","file_text":"x"})",
         "label_exists: Nothing was changed: File /memories/n already exists"},
        {R"({"command":"rename","old_path":"/memories/n","new_path":"/memories/m"})",
         "label_exists: Nothing was changed: The destination /memories/m already exists"},
        {R"({"command":"rename","old_path":"/memories/n","new_path":"/memories/n"})",
         "label_exists: Nothing was changed: The destination /memories/n already exists"},
        {R"({"command":"rename","path":"/memories/x","new_path":"/memories/y"})",
         "invalid_reference: Nothing was changed: The path /memories/x does not exist"},
        {R"({"command":"str_replace","path":"/memories/n","old_str":"c","new_str":"d"})",
         "no_match: Nothing was changed: No replacement was performed, old_str `c` did not appear "
         "verbatim in /memories/n. "},
        {R"({"command":"str_replace","path":"/memories/n","old_str":"a","new_str":"d"})",
         "not_unique: Nothing was changed: No replacement was performed. Multiple occurrences of "
         "old_str `a` in lines [1, 3]. Please ensure it is unique. "},
        {R"({"command":"insert","path":"/memories/n","insert_line":9,"insert_text":"x"})",
         "line_out_of_range: Nothing was changed: Invalid `insert_line` parameter: 9. It should be "
         "within the range of lines of the file: [0, 3]. "},
        {R"({"command":"view","path":"/memories/n","view_range":[2,1]})",
         "invalid_range: Nothing was changed: Invalid `view_range`: [2, 1]."},
        {R"({"command":"view","path":"/memories/n","view_range":[9,10]})",
         "line_out_of_range: Nothing was changed: "},
        {R"({"command":"delete","path":"/memories/x"})",
         "invalid_reference: Nothing was changed: The path /memories/x does not exist"},
        {R"({"command":"delete","path":"/memories"})", "invalid_path: "},
        {R"({"command":"create","path":"/memories/a/","file_text":"x"})", "invalid_path: "},
        {R"({"command":"view","path":"/memories/../etc/passwd"})", "invalid_path: "},
        {R"({"command":"view","path":"/memories/a/./b"})", "invalid_path: "},
        {R"({"command":"view","path":"/memories//a"})", "invalid_path: "},
        {R"({"command":"view","path":"/memoriesx"})", "invalid_path: "},
        {R"({"command":"view","path":"n"})", "invalid_path: "},
        {R"({"command":"create","path":"/memories/a\u0007b","file_text":"x"})", "invalid_label: "},
        {R"({"command":"view"})", "invalid_argument: "},
        {R"({"command":"view","path":"/memories/n","old_str":"x"})", "invalid_argument: "},
        {R"({"command":"undo","path":"/memories/n"})", "invalid_arguments: "},
    };
    for (const auto& each : cases) {
        const std::string says = refused(each.arguments);
        EXPECT_TRUE(says.starts_with(each.says)) << each.arguments << "\n" << says;
    }
    EXPECT_EQ(value("n"), "a\nb\na\n");
    EXPECT_EQ(value("m"), "");
    EXPECT_TRUE(said(R"({"command":"view","path":"/memories"})")
                    .ends_with(":\n/memories/m\n/memories/n\n"));
}

TEST_F(MemoryTool, StructureIsForTheToolContext) {
    context(R"({"operation":"create","label":"plan","template":"task_list"})");
    for (const char* call :
         {R"({"command":"view","path":"/memories/plan"})",
          R"({"command":"insert","path":"/memories/plan","insert_line":0,"insert_text":"x"})",
          R"({"command":"delete","path":"/memories/plan"})",
          R"({"command":"rename","old_path":"/memories/plan","new_path":"/memories/p"})"}) {
        EXPECT_TRUE(holds(refused(call), "read and write it with the tool context")) << call;
    }
    context(R"({"operation":"view","label":"plan"})");
}

TEST_F(MemoryTool, ArchivedBlocksAreNotBelowMemories) {
    context(R"({"operation":"create","label":"n","schema":"Text"})");
    context(R"({"operation":"append","label":"n","content":"kept"})");
    context(R"({"operation":"archive","label":"n","archival_label":"old"})");
    for (const char* call :
         {R"({"command":"view","path":"/memories/old"})",
          R"({"command":"str_replace","path":"/memories/old","old_str":"kept","new_str":"x"})",
          R"({"command":"delete","path":"/memories/old"})",
          R"({"command":"rename","old_path":"/memories/old","new_path":"/memories/p"})"}) {
        EXPECT_TRUE(refused(call).starts_with(
            "archived: Nothing was changed: The path /memories/old does not exist."))
            << call;
    }
    EXPECT_EQ(value("old"), "kept");
}

TEST_F(MemoryTool, AnAppendOnlyAgentMayInsertAtTheEnd) {
    context(R"({"operation":"create","label":"n","schema":"Text","permission":"append"})");
    said(R"({"command":"insert","path":"/memories/n","insert_line":0,"insert_text":"one"})");
    said(R"({"command":"insert","path":"/memories/n","insert_line":1,"insert_text":"two"})");
    EXPECT_EQ(value("n"), "one\ntwo");
    EXPECT_TRUE(
        refused(R"({"command":"insert","path":"/memories/n","insert_line":1,"insert_text":"x"})")
            .starts_with("permission_denied: "));
    EXPECT_TRUE(
        refused(R"({"command":"str_replace","path":"/memories/n","old_str":"none","new_str":"x"})")
            .starts_with("permission_denied: "));
}

TEST_F(MemoryTool, PermissionsAreThoseOfTheToolContext) {
    context(R"({"operation":"create","label":"grows","schema":"Text","permission":"append"})");
    context(R"({"operation":"append","label":"grows","content":"kept\n"})");
    const char* const writes[] = {
        R"({"command":"str_replace","path":"/memories/grows","old_str":"kept","new_str":"x"})",
        R"({"command":"insert","path":"/memories/grows","insert_line":0,"insert_text":"x"})",
        R"({"command":"rename","old_path":"/memories/grows","new_path":"/memories/x"})"};
    for (const char* write : writes) {
        EXPECT_TRUE(refused(write).starts_with("permission_denied: ")) << write;
        // Another's that is not shared does not exist.
        EXPECT_TRUE(refused(write, "agent:bo").starts_with("invalid_reference: ")) << write;
    }
    EXPECT_TRUE(refused(R"({"command":"view","path":"/memories/grows"})", "agent:bo")
                    .starts_with("invalid_reference: "));
    EXPECT_FALSE(holds(said(R"({"command":"view","path":"/memories"})", "agent:bo"), "grows"));
    context(R"({"operation":"share","label":"grows","with":"bo","permission":"read_only"})");
    EXPECT_TRUE(
        holds(said(R"({"command":"view","path":"/memories/grows"})", "agent:bo"), "1\tkept"));
    EXPECT_TRUE(refused(R"({"command":"delete","path":"/memories/grows"})", "agent:bo")
                    .starts_with("permission_denied: "));
    EXPECT_EQ(value("grows"), "kept\n");
}

TEST_F(MemoryTool, ALimitOfCharactersHoldsForEachEdit) {
    context(R"({"operation":"create","label":"short","schema":"Text","char_limit":5})");
    said(R"({"command":"insert","path":"/memories/short","insert_line":0,"insert_text":"½½½"})");
    EXPECT_TRUE(
        refused(
            R"({"command":"str_replace","path":"/memories/short","old_str":"½½½","new_str":"123456"})")
            .starts_with("char_limit: "));
    said(R"({"command":"str_replace","path":"/memories/short","old_str":"½½½","new_str":"12345"})");
    EXPECT_EQ(value("short"), "12345");
}

}  // namespace
}  // namespace quire
