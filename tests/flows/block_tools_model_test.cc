// The profile `model`: flat, lines from 1, ranges with both ends.
#include <gtest/gtest.h>

#include "tests/flows/tool_desk.h"

namespace quire {
namespace {

class Model : public testing::Test, protected ToolDesk {
protected:
    Model() : ToolDesk(tools::Profile::model) {}

    Map on(const std::string& id, std::string_view rest) {
        Value call = parsed(rest);
        call.as_map().set("block_id", id);
        return call.as_map();
    }
};

TEST_F(Model, AViewIsAHeaderAndNumberedLines) {
    const std::string id = block("a\n\tb \nc");
    const tools::EncodedResult view = call("block_view", Map{{"block_id", id}});

    EXPECT_EQ(view.text, id + ": text, pending, version 1, 3 lines, 7 bytes, no newline at the "
                              "end\n1\ta\n2\t\tb \n3\tc\n");
    EXPECT_EQ(*view.structured.get("content"), Value("1\ta\n2\t\tb \n3\tc"));
}

TEST_F(Model, AViewTakesBothEndsOfARange) {
    const std::string id = block("a\nb\nc\nd\n");
    const auto content = [&](std::string_view rest) {
        return ok("block_view", on(id, rest)).get("content")->as_string();
    };
    EXPECT_EQ(content(R"({"start_line":2,"end_line":3})"), "2\tb\n3\tc\n");
    EXPECT_EQ(content(R"({"start_line":3})"), "3\tc\n4\td\n");
    EXPECT_EQ(content(R"({"start_line":3,"end_line":-1})"), "3\tc\n4\td\n");
    EXPECT_EQ(content(R"({"start_line":-1})"), "4\td\n");
    EXPECT_EQ(content(R"({"end_line":1})"), "1\ta\n");
    EXPECT_EQ(content(R"({"start_line":4,"end_line":99})"), "4\td\n");
    EXPECT_EQ(details("block_view", on(id, R"({"start_line":5})")),
              parsed(R"({"requested":5,"max":4})"));
    EXPECT_EQ(details("block_view", on(id, R"({"start_line":9,"end_line":10})")),
              parsed(R"({"requested":9,"max":4})"));
    EXPECT_EQ(reason("block_view", on(id, R"({"start_line":3,"end_line":2})")), "invalid_range");
    EXPECT_EQ(reason("block_view", on(id, R"({"start_line":0})")), "invalid_range");
    EXPECT_EQ(ok("block_view", on(block(""), R"({"start_line":1,"end_line":-1})"))
                  .get("content")
                  ->as_string(),
              "");
}

TEST_F(Model, StrReplaceShowsTheNewVersionAndTwoLinesEitherSide) {
    const std::string id = block("a\nb\nc\nd\ne\nf\n");
    const tools::EncodedResult done =
        call("block_str_replace", on(id, R"({"old_str":"d","new_str":"D"})"));

    EXPECT_EQ(done.text, "Done: now version 2, 6 lines.\n2\tb\n3\tc\n4\tD\n5\te\n6\tf\n");
    EXPECT_EQ(*done.structured.get("changed"), parsed(R"({"start":4,"end":4})"));
    EXPECT_EQ(text(id), "a\nb\nc\nD\ne\nf\n");
}

TEST_F(Model, StrReplaceRefusesNoneAndMany) {
    const std::string id = block("alpha\n  beta\nalpha\n");
    EXPECT_EQ(details("block_str_replace", on(id, R"({"old_str":"alpha","new_str":"x"})")),
              parsed(R"({"lines":[1,3]})"));
    EXPECT_EQ(reason("block_str_replace", on(id, R"({"old_str":"alpha","new_str":"x"})")),
              "not_unique");
    EXPECT_EQ(reason("block_str_replace", on(id, R"({"old_str":"\tbeta","new_str":"x"})")),
              "no_match");
    const tools::EncodedResult miss =
        call("block_str_replace", on(id, R"({"old_str":"\tbeta","new_str":"x"})"));
    EXPECT_NE(miss.text.find("2\t  beta\n"), std::string::npos) << miss.text;
    EXPECT_EQ(version(id), 1);

    ok("block_str_replace", on(id, R"({"old_str":"alpha","new_str":"x","replace_all":true})"));
    EXPECT_EQ(text(id), "x\n  beta\nx\n");
}

TEST_F(Model, InsertGoesAfterTheLine) {
    const std::string id = block("a\nb\n");
    ok("block_insert", on(id, R"({"insert_line":0,"insert_text":"top"})"));
    ok("block_insert", on(id, R"({"insert_line":3,"insert_text":"end"})"));
    EXPECT_EQ(text(id), "top\na\nb\nend\n");
    EXPECT_EQ(details("block_insert", on(id, R"({"insert_line":5,"insert_text":"x"})")),
              parsed(R"({"operation":0,"requested":5,"max":4})"));
    EXPECT_EQ(reason("block_insert", on(id, R"({"insert_line":1,"insert_text":""})")),
              "empty_content");
}

TEST_F(Model, ReplaceLinesNeedsTheExpectedText) {
    const std::string id = block("a\nb\nc\n");
    EXPECT_EQ(
        *refused("block_replace_lines", on(id, R"({"start_line":1,"end_line":1,"new_text":"x"})"))
             .find("code"),
        Value("invalid_argument"));
    EXPECT_EQ(
        details("block_replace_lines",
                on(id, R"({"start_line":2,"end_line":3,"new_text":"x","expected_text":"b"})")),
        parsed(R"({"operation":0,"start_line":2,"end_line":3,"expected":"b","actual":"b\nc\n"})"));
    const tools::EncodedResult stale =
        call("block_replace_lines",
             on(id, R"({"start_line":2,"end_line":3,"new_text":"x","expected_text":"b"})"));
    EXPECT_NE(stale.text.find("2\tb\n3\tc\n"), std::string::npos) << stale.text;

    ok("block_replace_lines",
       on(id, R"({"start_line":2,"end_line":3,"new_text":"x","expected_text":"b\nc"})"));
    EXPECT_EQ(text(id), "a\nx\n");
    EXPECT_EQ(details("block_replace_lines",
                      on(id, R"({"start_line":3,"end_line":3,"new_text":"x","expected_text":""})")),
              parsed(R"({"operation":0,"requested":3,"max":2})"));
    EXPECT_EQ(reason("block_replace_lines",
                     on(id, R"({"start_line":2,"end_line":1,"new_text":"x","expected_text":""})")),
              "invalid_range");
}

TEST_F(Model, AppendAndUndoShowWhereTheBlockNowStands) {
    const std::string id = block("a\nb\nc\n");
    EXPECT_EQ(call("block_append", on(id, R"({"text":"d\n"})")).text,
              "Done: now version 2, 4 lines.\n2\tb\n3\tc\n4\td\n");
    EXPECT_EQ(call("block_undo", Map{{"block_id", id}}).text,
              "Undone: now version 3, 3 lines.\n2\tb\n3\tc\n");
    EXPECT_EQ(call("block_undo", on(id, R"({"redo":true})")).text,
              "Redone: now version 4, 4 lines.\n2\tb\n3\tc\n4\td\n");
}

TEST_F(Model, ABlockNeedsNeitherRoleNorKind) {
    const Value made = ok("block_create", parsed(R"({"content":"hi"})"));
    EXPECT_EQ(text(made.get("block_id")->as_string()), "hi");
}

TEST_F(Model, SearchLooksIntoOneBlockOrEverywhere) {
    const std::string id = block("one\nneedle\n");
    block("another needle\n");

    const Value one = ok("block_search", on(id, R"({"query":"needle"})"));
    EXPECT_EQ(one, parsed(R"({"matches":[{"line":2,"content":"one\nneedle"}]})"));
    const Value everywhere = ok("block_search", parsed(R"({"query":"needle"})"));
    EXPECT_EQ(everywhere.get("blocks")->as_list().size(), 2U);
    EXPECT_NE(call("block_search", parsed(R"({"query":"needle"})"))
                  .text.find(id + ":\n1\tone\n2\tneedle\n"),
              std::string::npos);
}

TEST_F(Model, AnAnswerKeepsWhatWasAskedForEvenWhereItIsEmpty) {
    EXPECT_EQ(ok("block_list", parsed(R"({"conversation":"main"})")), parsed(R"({"blocks":[]})"));
    const std::string id = block("");
    EXPECT_EQ(*ok("block_view", Map{{"block_id", id}}).get("content"), Value(""));
    EXPECT_EQ(ok("block_search", on(id, R"({"query":"x"})")), parsed(R"({"matches":[]})"));
}

TEST_F(Model, AWholeBlockShowsHowItsLinesEndAndAPartOfItSaysSo) {
    const std::string id = block("a\r\nb\r\n");
    const Value whole = ok("block_view", Map{{"block_id", id}});
    EXPECT_EQ(*whole.get("content"), Value("1\ta\r\n2\tb\r\n"));
    EXPECT_FALSE(whole.get("eol"));
    const Value part = ok("block_view", on(id, R"({"start_line":1,"end_line":1})"));
    EXPECT_EQ(*part.get("eol"), Value("crlf"));
    EXPECT_EQ(*part.get("final_newline"), Value(true));
}

TEST_F(Model, ErrorsNameToolsAndArgumentsThatThisProfileHas) {
    const std::string id = block("same\nother\nsame\n");
    const std::string empty = block("");
    const auto told = [&](const char* tool, const std::string& of, const char* arguments) {
        const tools::EncodedResult result = call(tool, on(of, arguments));
        EXPECT_TRUE(result.is_error) << arguments;
        for (const char* foreign : {"block_edit", "block_read", "op \"", "operation"})
            EXPECT_EQ(result.text.find(foreign), std::string::npos) << result.text;
        return result.text;
    };
    const auto holds = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };

    EXPECT_TRUE(holds(told("block_insert", id, R"({"insert_line":1,"insert_text":""})"),
                      "block_replace_lines with new_text \"\""));
    EXPECT_TRUE(holds(told("block_insert", id, R"({"insert_line":4,"insert_text":"x"})"),
                      "Valid for insert_line: 0 to 3"));
    EXPECT_TRUE(holds(told("block_replace_lines", empty,
                           R"({"start_line":1,"end_line":1,"new_text":"x","expected_text":""})"),
                      "block_insert"));
    EXPECT_TRUE(holds(told("block_str_replace", id, R"({"old_str":"same","new_str":"x"})"),
                      "replace_all: true"));
    told("block_str_replace", id, R"({"old_str":"","new_str":"x"})");
    told("block_str_replace", id, R"({"old_str":"absent","new_str":"x"})");
}

TEST_F(Model, ToolsOfAnotherProfileAreUnknown) {
    auto answer = start("block_edit", Map{});
    desk.scheduler.run_all();
    EXPECT_FALSE(**answer);
    EXPECT_EQ(registry().find(tools::Profile::model, "block.view")->name, "block_view");
}

}  // namespace
}  // namespace quire
