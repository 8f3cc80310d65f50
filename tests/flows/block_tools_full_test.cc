// The profile `full`, row by row of its contract: lines from 0, ranges half-open.
#include <gtest/gtest.h>

#include "tests/flows/full_desk.h"

namespace quire {
namespace {

// --- create, status
// --------------------------------------------------------------------------------

TEST_F(Full, CreateGivesIdAndVersion) {
    const Value made =
        ok("block_create", parsed(R"({"role":"user","kind":"text","content":"hi"})"));

    EXPECT_EQ(*made.get("version"), Value(1));
    EXPECT_EQ(text(made.get("block_id")->as_string()), "hi");
}

TEST_F(Full, ABlockIsPendingUntilItsFirstWriteUnlessSaidOtherwise) {
    const std::string id = block("x");
    EXPECT_EQ(*ok("block_read", Map{{"block_id", id}}).get("status"), Value("pending"));
    ok("block_append", Map{{"block_id", id}, {"text", "y"}});
    EXPECT_EQ(*ok("block_read", Map{{"block_id", id}}).get("status"), Value("running"));

    const Value done =
        ok("block_create", parsed(R"({"role":"tool","kind":"task","status":"done"})"));
    EXPECT_EQ(*ok("block_read", Map{{"block_id", *done.get("block_id")}}).get("status"),
              Value("done"));
}

TEST_F(Full, MetadataIsKeptWhole) {
    const Value made = ok("block_create", parsed(R"({"role":"tool","kind":"tool_call","metadata":
        {"tool_name":"grep","input":{"q":[1,2.5,null,true,"é"]},"own key":{}}})"));

    EXPECT_EQ(*ok("block_read", Map{{"block_id", *made.get("block_id")}}).get("metadata"),
              parsed(R"({"tool_name":"grep","input":{"q":[1,2.5,null,true,"é"]},"own key":{}})"));
}

TEST_F(Full, MetadataAndTokensHaveALimit) {
    Map call{{"role", "user"}, {"kind", "text"}};
    const auto with = [&](const char* name, Value value) {
        Map out = call;
        out.set(name, std::move(value));
        return out;
    };
    const std::string large((1U << 20) + 1, 'x');

    EXPECT_EQ(reason("block_create", with("metadata", Map{{"large", large}})), "too_large");
    EXPECT_EQ(details("block_create", with("metadata", Map{{"large", large}})),
              parsed(R"({"limit":1048576})"));
    EXPECT_EQ(reason("block_create", with("client_token", std::string(201, 't'))),
              "invalid_argument");
    EXPECT_EQ(ok("block_list", Map{}).get("blocks")->as_list().size(), 0U);
    ok("block_create", with("metadata", Map{{"large", large.substr(100)}}));
}

TEST_F(Full, AnErrorRepeatsOnlyAPartOfALongArgument) {
    const std::string id = block("x");
    const std::string large(100'000, 'x');
    for (const auto& [tool, name] :
         {std::pair("block_list", "conversation"), std::pair("block_list", "cursor"),
          std::pair("block_list", "parent_id"), std::pair("block_history", "cursor"),
          std::pair("block_read", "block_id")}) {
        Map arguments{{name, large}};
        if (std::string_view(tool) == "block_history") arguments.set("block_id", id);
        const tools::EncodedResult result = call(tool, arguments);
        EXPECT_TRUE(result.is_error) << tool;
        EXPECT_LT(result.text.size(), 300U) << tool << " " << name;
    }
}

TEST_F(Full, ARepeatedTokenGivesTheFirstOnesBlock) {
    const Value call = parsed(R"({"role":"user","kind":"text","content":"x","client_token":"t1"})");
    const Value first = ok("block_create", call);

    EXPECT_EQ(*ok("block_create", call).get("block_id"), *first.get("block_id"));
    EXPECT_NE(*ok("block_create", call, "bob").get("block_id"), *first.get("block_id"))
        << "another actor's token";

    // A token of a deleted block creates no second block.
    const Map block{{"block_id", *first.get("block_id")}};
    ok("block_delete", block);
    EXPECT_EQ(reason("block_create", call), "token_used");
    ok("block_undo", block);
    EXPECT_EQ(*ok("block_create", call).get("block_id"), *first.get("block_id"));
}

TEST_F(Full, AnUnknownParentIsRefused) {
    EXPECT_EQ(
        reason("block_create", parsed(R"({"role":"user","kind":"text","parent_id":"b1_9_9"})")),
        "invalid_reference");
    EXPECT_EQ(reason("block_create", parsed(R"({"role":"user","kind":"text","after":"nonsense"})")),
              "invalid_reference");
    for (const char* tool :
         {"block_read", "block_delete", "block_undo", "block_redo", "block_history"}) {
        EXPECT_EQ(reason(tool, parsed(R"({"block_id":"b77"})")), "invalid_reference") << tool;
    }
}

TEST_F(Full, AfterPlacesABlockAmongItsSiblings) {
    const std::string first = block("1");
    const std::string last = block("3");
    Map call{{"role", "user"}, {"kind", "text"}, {"content", "2"}, {"after", first}};
    const Value between = ok("block_create", call);

    const Value page = ok("block_list", Map{});
    const List& rows = page.get("blocks")->as_list();
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(*rows[1].get("block_id"), *between.get("block_id"));
    EXPECT_EQ(*rows[2].get("block_id"), Value(last));
}

TEST_F(Full, StatusMovesAnywhereButBackToPending) {
    const std::string id = block("x");
    for (const char* status : {"running", "done", "running", "error", "done"}) {
        ok("block_status", Map{{"block_id", id}, {"status", status}});
    }
    EXPECT_EQ(reason("block_status", Map{{"block_id", id}, {"status", "pending"}}),
              "invalid_transition");

    const std::int64_t before = version(id);
    ok("block_edit", edit(id, R"([{"op":"insert","line":0,"content":"y"}])"));
    EXPECT_EQ(*ok("block_read", Map{{"block_id", id}}).get("status"), Value("done"))
        << "an edit does not reopen";
    EXPECT_EQ(version(id), before + 1);
}

// --- append
// ----------------------------------------------------------------------------------------

TEST_F(Full, ADurableAppendSaysSo) {
    const std::string id = block("a");
    const Value appended = ok("block_append", Map{{"block_id", id}, {"text", "b"}});

    EXPECT_EQ(appended, parsed(R"({"version":2,"durable":true})"));
    EXPECT_EQ(text(id), "ab");
}

TEST_F(Full, AcceptedTextIsReadAtOnceByEveryone) {
    const std::string id = block("");
    const Map quick{{"block_id", id}, {"text", "abc"}, {"ack", "accepted"}};
    EXPECT_EQ(ok("block_append", quick), parsed(R"({"version":2,"durable":false})"));

    EXPECT_EQ(
        *ok("block_read", Map{{"block_id", id}, {"line_numbers", false}}, "bob").get("content"),
        Value("abc"));
    ok("block_append", quick);
    EXPECT_EQ(ok("block_search", Map{{"block_id", id}, {"query", "abcabc"}})
                  .get("matches")
                  ->as_list()
                  .size(),
              1U);
    ok("block_append", quick);
    ok("block_edit",
       edit(
           id,
           R"([{"op":"replace","start_line":0,"end_line":1,"content":"x","expected_text":"abcabcabc"}])"));
    EXPECT_EQ(text(id), "x");
}

TEST_F(Full, AStreamOfAppendsIsOneUndoUnit) {
    const std::string id = block("start ");
    for (const char* word : {"one ", "two\n", "three"})
        ok("block_append", Map{{"block_id", id}, {"text", word}});

    ok("block_undo", Map{{"block_id", id}});
    EXPECT_EQ(text(id), "start ");
    ok("block_redo", Map{{"block_id", id}});
    EXPECT_EQ(text(id), "start one two\nthree");
}

// --- edit
// ------------------------------------------------------------------------------------------

TEST_F(Full, AnEditSaysWhatItChanged) {
    const std::string id = block("a\nb\nc\nd\ne\nf\n");
    const Value edited =
        ok("block_edit",
           edit(id, R"([{"op":"replace","start_line":2,"end_line":3,"content":"C\nCC"}])"));

    EXPECT_EQ(*edited.get("version"), Value(2));
    EXPECT_EQ(*edited.get("line_count"), Value(7));
    EXPECT_EQ(*edited.get("changed"), parsed(R"({"start":2,"end":4})"));
    EXPECT_EQ(*edited.get("snippet"), Value("0\ta\n1\tb\n2\tC\n3\tCC\n4\td\n5\te\n"));
    EXPECT_EQ(*edited.get("no_op"), Value(false));
    EXPECT_EQ(*edited.get("notes"), Value(List{}));
}

TEST_F(Full, ABatchIsOneVersionAndOneUndoUnit) {
    const std::string id = block("a\nb\nc\n");
    ok("block_edit",
       edit(id,
            R"([{"op":"insert","line":0,"content":"x"},{"op":"delete","start_line":3,"end_line":4},
                                  {"op":"replace","start_line":1,"end_line":2,"content":"A"}])"));
    EXPECT_EQ(text(id), "x\nA\nb\n");
    EXPECT_EQ(version(id), 2);

    ok("block_undo", Map{{"block_id", id}});
    EXPECT_EQ(text(id), "a\nb\nc\n");
}

TEST_F(Full, ARefusedBatchChangesNothing) {
    const std::string id = block("a\nb\nc\n");
    const std::string_view batch =
        R"([{"op":"insert","line":0,"content":"x"},{"op":"delete","start_line":9,"end_line":10}])";

    EXPECT_EQ(details("block_edit", edit(id, batch)),
              parsed(R"({"operation":1,"requested":9,"max":4})"));
    EXPECT_EQ(text(id), "a\nb\nc\n");
    EXPECT_EQ(version(id), 1);
}

TEST_F(Full, CompareAndSetRefusesATextThatHasChanged) {
    const std::string id = block("a\nb\nc\n");
    const Value stale = edit(
        id, R"([{"op":"replace","start_line":1,"end_line":2,"content":"x","expected_text":"B"}])");

    EXPECT_EQ(*refused("block_edit", stale).find("code"), Value("conflict"));
    EXPECT_EQ(
        details("block_edit", stale),
        parsed(R"({"operation":0,"start_line":1,"end_line":2,"expected":"B","actual":"b\n"})"));
    const tools::EncodedResult told = call("block_edit", stale);
    EXPECT_NE(told.text.find("1\tb\n"), std::string::npos) << told.text;
}

TEST_F(Full, AStaleBaseVersionIsAConflict) {
    const std::string id = block("a\n");
    ok("block_append", Map{{"block_id", id}, {"text", "b\n"}});
    const std::string_view insert = R"([{"op":"insert","line":0,"content":"x"}])";

    EXPECT_EQ(details("block_edit", edit(id, insert, {{"base_version", 1}})),
              parsed(R"({"base":1,"current":2})"));
    ok("block_edit", edit(id, insert, {{"base_version", 2}}));
}

TEST_F(Full, OperationsMayAllNameTheTextBeforeTheCall) {
    const std::string id = block("a\nb\nc\n");
    ok("block_edit",
       edit(
           id,
           R"([{"op":"delete","start_line":0,"end_line":1},{"op":"insert","line":3,"content":"d"}])",
           {{"coords", "original"}}));
    EXPECT_EQ(text(id), "b\nc\nd\n");
    EXPECT_EQ(
        reason(
            "block_edit",
            edit(
                id,
                R"([{"op":"delete","start_line":0,"end_line":2},{"op":"delete","start_line":1,"end_line":2}])",
                {{"coords", "original"}})),
        "overlapping_operations");
}

TEST_F(Full, AnEditThatChangesNothingIsNoNewVersion) {
    const std::string id = block("a\nb\n");
    const Value edited = ok(
        "block_edit", edit(id, R"([{"op":"replace","start_line":0,"end_line":1,"content":"a"}])"));

    EXPECT_EQ(*edited.get("no_op"), Value(true));
    EXPECT_EQ(*edited.get("version"), Value(1));
    EXPECT_EQ(version(id), 1);
}

TEST_F(Full, EditsHaveTheirReasons) {
    const std::string id = block("a\nb\n");
    EXPECT_EQ(reason("block_edit", edit(id, R"([{"op":"insert","line":0,"content":""}])")),
              "empty_content");
    EXPECT_EQ(reason("block_edit", edit(id, R"([{"op":"insert","line":3,"content":"x"}])")),
              "line_out_of_range");
    EXPECT_EQ(reason("block_edit", edit(id, R"([{"op":"delete","start_line":2,"end_line":1}])")),
              "invalid_range");
    EXPECT_EQ(*ok("block_edit", edit(id, "[]")).get("no_op"), Value(true))
        << "nothing to do is no failure";
    EXPECT_EQ(version(id), 1);
}

TEST_F(Full, AnOperationsTextHasALimit) {
    const std::string id = block("a\n");
    const List operations{
        Map{{"op", "insert"}, {"line", 0}, {"content", std::string((1U << 20) + 1, 'x')}}};

    EXPECT_EQ(details("block_edit", Map{{"block_id", id}, {"operations", operations}}),
              parsed(R"({"operation":0,"limit":1048576})"));
}

TEST_F(Full, ArgumentsAreHeldToTheSchema) {
    const std::string id = block("a\n");
    EXPECT_NE(refused("block_read", Map{{"block_id", id}, {"lines", 3}})
                  .find("message")
                  ->as_string()
                  .find("lines"),
              std::string::npos);
    EXPECT_EQ(*refused("block_read", Map{}).find("code"), Value("invalid_argument"));
    EXPECT_EQ(*refused("block_edit", edit(id, R"([{"op":"insert","line":-1,"content":"x"}])"))
                   .find("code"),
              Value("invalid_argument"));
    EXPECT_EQ(*refused("block_edit", edit(id, R"([{"op":"insert","line":"0","content":"x"}])"))
                   .find("code"),
              Value("invalid_argument"));
    EXPECT_EQ(*refused("block_edit", edit(id, R"([{"op":"move","line":0}])")).find("code"),
              Value("invalid_argument"));
    EXPECT_EQ(
        *refused("block_edit", edit(id, R"([{"op":"insert","line":0,"content":"x","column":1}])"))
             .find("code"),
        Value("invalid_argument"));
    const std::string told = refused("block_create", parsed(R"({"role":"user","kind":"image"})"))
                                 .find("message")
                                 ->as_string();
    EXPECT_NE(told.find("tool_result"), std::string::npos) << told;
    EXPECT_EQ(text(id), "a\n");
}

TEST_F(Full, OneLayerOfJsonInAStringIsUnwrapped) {
    const std::string id = block("a\n");
    ok("block_edit",
       Map{{"block_id", id}, {"operations", R"([{"op":"insert","line":0,"content":"[x]"}])"}});
    EXPECT_EQ(text(id), "[x]\na\n") << "and text that looks like JSON stays text";
}

TEST_F(Full, ToolsAnswerToTheirDottedNames) {
    const std::string id = block("a\n");
    ok("block.edit", edit(id, R"([{"op":"insert","line":0,"content":"x"}])"));
    ok("kernel.search", parsed(R"({"query":"x"})"));
    EXPECT_EQ(text(id), "x\na\n");
}

TEST_F(Full, AnUnknownToolIsAnErrorThatListsTheKnown) {
    auto answer = start("block_explode", Map{});
    desk.scheduler.run_all();

    ASSERT_TRUE(answer->has_value());
    ASSERT_FALSE(**answer);
    EXPECT_EQ((**answer).error().reason(), "unknown_tool");
    EXPECT_NE((**answer).error().message().find("block_edit"), std::string::npos);
}

// --- splice
// ----------------------------------------------------------------------------------------

TEST_F(Full, ASpliceCountsInItsUnit) {
    const std::string id = block("aé😀b");
    const auto splice = [&](std::string_view rest) {
        Value call = parsed(rest);
        call.as_map().set("block_id", id);
        return call;
    };
    EXPECT_EQ(
        ok("block_splice",
           splice(R"({"offset":2,"delete_count":2,"insert":"x","unit":"utf16","expected":"😀"})")),
        parsed(R"({"version":2,"line_count":1})"));
    EXPECT_EQ(text(id), "aéxb");
    EXPECT_EQ(details("block_splice", splice(R"({"offset":2,"delete_count":0,"insert":"x"})")),
              parsed(R"({"position":2,"nearest":1})"));
    EXPECT_EQ(reason("block_splice", splice(R"({"offset":0,"delete_count":99})")), "invalid_range");
    EXPECT_EQ(reason("block_splice", splice(R"({"offset":0,"delete_count":1,"expected":"b"})")),
              "content_mismatch");
    ok("block_splice", splice(R"({"offset":3,"delete_count":1})"));
    EXPECT_EQ(text(id), "aéb");
}

// --- read
// ------------------------------------------------------------------------------------------

TEST_F(Full, ADeletedBlockIsATombstoneAndItsChildrenKeepTheirParent) {
    const std::string root = block("root");
    const Value child =
        ok("block_create", Map{{"role", "user"}, {"kind", "text"}, {"parent_id", root}});
    const Value deleted = ok("block_delete", Map{{"block_id", root}});
    EXPECT_EQ(*deleted.get("version"), Value(2));

    EXPECT_EQ(reason("block_read", Map{{"block_id", root}}), "invalid_reference");
    const Value page = ok("block_list", Map{{"depth", 0}});
    ASSERT_EQ(page.get("blocks")->as_list().size(), 1U);
    EXPECT_EQ(*page.get("blocks")->as_list()[0].get("block_id"), *child.get("block_id"));
    EXPECT_EQ(*page.get("blocks")->as_list()[0].get("parent_id"), Value(root));

    ok("block_undo", Map{{"block_id", root}});
    EXPECT_EQ(text(root), "root");
}

// --- undo, history
// ---------------------------------------------------------------------------------

TEST_F(Full, UndoIsByActorAndLeavesWhatOthersDid) {
    const std::string id = block("one\ntwo\n");
    ok("block_edit", edit(id, R"([{"op":"insert","line":0,"content":"ada"}])"), "ada");
    ok("block_edit", edit(id, R"([{"op":"insert","line":3,"content":"bob"}])"), "bob");

    const Value undone = ok("block_undo", Map{{"block_id", id}}, "ada");
    EXPECT_EQ(text(id), "one\ntwo\nbob\n");
    EXPECT_EQ(*undone.get("version"), Value(4));
    EXPECT_EQ(*undone.get("skipped_because_changed"), Value(0));
    EXPECT_GT(undone.get("removed")->as_int(), 0);

    ok("block_redo", Map{{"block_id", id}}, "ada");
    EXPECT_EQ(text(id), "ada\none\ntwo\nbob\n");
    ok("block_undo", Map{{"block_id", id}, {"scope", "any"}}, "carol");
    EXPECT_EQ(text(id), "ada\none\ntwo\n");
    EXPECT_EQ(*refused("block_undo", Map{{"block_id", id}}, "dave").find("code"),
              Value("not_found"));
}

TEST_F(Full, UndoBringsALineBackBeforeWhatAnotherAddedBehindIt) {
    const std::string id = block("");
    ok("block_edit", edit(id, R"([{"op":"insert","line":0,"content":"first\n"}])"), "mel");
    ok("block_edit",
       edit(id, R"([{"op":"replace","start_line":0,"end_line":1,"content":"second"}])"), "mel");
    ok("block_edit", edit(id, R"([{"op":"delete","start_line":0,"end_line":1}])"), "mel");
    ok("block_undo", Map{{"block_id", id}}, "mel");
    EXPECT_EQ(text(id), "second\n");
    ok("block_edit", edit(id, R"([{"op":"insert","line":1,"content":"of ada"}])"), "ada");

    ok("block_undo", Map{{"block_id", id}}, "mel");

    EXPECT_EQ(text(id), "first\nof ada\n");
}

TEST_F(Full, UndoBringsALastLineWithoutItsNewlineBackBeforeWhatAnotherAppended) {
    const std::string id = block("");
    ok("block_append", Map{{"block_id", id}, {"text", "first"}}, "mel");
    ok("block_edit",
       edit(id, R"([{"op":"replace","start_line":0,"end_line":1,"content":"second"}])"), "mel");
    EXPECT_EQ(text(id), "second");
    ok("block_edit", edit(id, R"([{"op":"insert","line":1,"content":"of ada"}])"), "ada");

    ok("block_undo", Map{{"block_id", id}}, "mel");

    EXPECT_EQ(text(id), "first\nof ada");
}

TEST_F(Full, HistoryNamesWhoDidWhat) {
    const std::string id = block("a\n");
    ok("block_append", Map{{"block_id", id}, {"text", "b\n"}}, "bob");
    const Value page = ok("block_history", Map{{"block_id", id}});

    const List& versions = page.get("versions")->as_list();
    ASSERT_EQ(versions.size(), 2U);
    EXPECT_EQ(*versions[0].get("actor"), Value("agent:bob"));
    EXPECT_EQ(*versions[0].get("description"), Value("append"));
    EXPECT_EQ(*versions[1].get("actor"), Value("agent:ada"));
    EXPECT_TRUE(versions[0].get("timestamp")->as_string().ends_with("Z"));
    EXPECT_EQ(
        ok("block_history", Map{{"block_id", id}, {"limit", 1}}).get("versions")->as_list().size(),
        1U);
}

TEST_F(Full, VersionsOnlyGrowAndSurviveARestart) {
    const std::string id = block("a\n");
    ok("block_append", Map{{"block_id", id}, {"text", "b\n"}});
    desk.restart();

    EXPECT_EQ(version(id), 2);
    EXPECT_EQ(text(id), "a\nb\n");
}

}  // namespace
}  // namespace quire
