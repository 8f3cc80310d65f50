// Reading, searching and listing in the profile `full`, row by row of its contract: lines from 0,
// ranges half-open.
#include <gtest/gtest.h>

#include "tests/flows/full_desk.h"

namespace quire {
namespace {

using FullReads = Full;

TEST_F(FullReads, AReadAnswersWithEveryMember) {
    const std::string id = block("a\r\n\tb");
    const Value read = ok("block_read", Map{{"block_id", id}});

    EXPECT_EQ(
        read,
        parsed(
            R"({"content":"0\ta\r\n1\t\tb","metadata":{},"role":"user","kind":"text","status":"pending",
        "version":1,"line_count":2,"bytes":5,"eol":"crlf","final_newline":false,"truncated":false,"notes":[]})"));
}

TEST_F(FullReads, ARangeIsHalfOpenAndItsEndIsClamped) {
    const std::string id = block("a\nb\nc\n");
    const auto content = [&](std::size_t start, std::size_t end) {
        const Value read = ok("block_read", Map{{"block_id", id},
                                                {"line_numbers", false},
                                                {"range", Map{{"start", start}, {"end", end}}}});
        return read.get("content")->as_string();
    };
    EXPECT_EQ(content(1, 2), "b\n");
    EXPECT_EQ(content(1, 99), "b\nc\n");
    EXPECT_EQ(content(3, 9), "");
    EXPECT_EQ(details("block_read",
                      parsed(R"({"block_id":")" + id + R"(","range":{"start":4,"end":9}})")),
              parsed(R"({"requested":4,"max":3})"));
}

TEST_F(FullReads, ALongReadIsCutAndSaysWhereToGoOn) {
    std::string content;
    for (int i = 0; i < 2500; ++i) content += "line\n";
    const std::string id = block(content);
    const Value read = ok("block_read", Map{{"block_id", id}});

    EXPECT_EQ(*read.get("truncated"), Value(true));
    EXPECT_EQ(*read.get("line_count"), Value(2500));
    EXPECT_NE(json::write(*read.get("notes")).find("the next line is 2000"), std::string::npos)
        << json::write(*read.get("notes"));
}

// --- search
// ----------------------------------------------------------------------------------------

TEST_F(FullReads, ASearchGivesLinesColumnsAndContext) {
    const std::string id = block("zero\none\ntwo é needle\nthree\nfour\nfive\n");

    EXPECT_EQ(
        ok("block_search", Map{{"block_id", id}, {"query", "ne+dle"}}),
        parsed(
            R"({"matches":[{"line":2,"content":"zero\none\ntwo é needle\nthree\nfour","match_start":6,"match_end":12}],
                         "truncated":false})"));
    EXPECT_EQ(ok("block_search", Map{{"block_id", id}, {"query", "ne+dle"}, {"mode", "literal"}}),
              parsed(R"({"matches":[],"truncated":false})"));
    const Value one =
        ok("block_search",
           Map{{"block_id", id}, {"query", "e"}, {"max_matches", 1}, {"context_lines", 0}});
    EXPECT_EQ(one.get("matches")->as_list().size(), 1U);
    EXPECT_EQ(*one.get("truncated"), Value(true));
    EXPECT_EQ(reason("block_search", Map{{"block_id", id}, {"query", "(a"}}), "invalid_regex");
}

TEST_F(FullReads, KernelSearchLooksIntoTheKindsAsked) {
    const std::string id = block("one needle\n");
    EXPECT_EQ(
        ok("kernel_search", parsed(R"({"query":"needle"})")),
        parsed(R"({"blocks":[],"searched":{"indexed":0,"scanned":0,"left":0},"truncated":false})"))
        << "files only, unless said otherwise";

    const Value found =
        ok("kernel_search", parsed(R"({"query":"needle","kinds":["text","tool_call"]})"));
    EXPECT_EQ(*found.get("searched"), parsed(R"({"indexed":0,"scanned":1,"left":0})"));
    const Value& hit = found.get("blocks")->as_list().at(0);
    EXPECT_EQ(*hit.get("block_id"), Value(id));
    EXPECT_EQ(*hit.get("matches")->as_list().at(0).get("line"), Value(0));
}

// --- list, delete
// ----------------------------------------------------------------------------------

TEST_F(FullReads, AListHasARowForEachBlock) {
    const std::string id = block("\n  First words\nmore");
    const Value page = ok("block_list", Map{});

    EXPECT_EQ(page.get("blocks")->as_list(), (List{Map{{"block_id", id},
                                                       {"parent_id", Value()},
                                                       {"role", "user"},
                                                       {"kind", "text"},
                                                       {"status", "pending"},
                                                       {"path", Value()},
                                                       {"summary", "First words"},
                                                       {"version", 1},
                                                       {"line_count", 3},
                                                       {"bytes", 19},
                                                       {"dirty", false}}}));
    EXPECT_TRUE(page.get("next_cursor")->is_null());
}

TEST_F(FullReads, AListGoesAsDeepAsAskedAndFilters) {
    const std::string root = block("root");
    const Value child =
        ok("block_create", Map{{"role", "model"}, {"kind", "thinking"}, {"parent_id", root}});
    ok("block_create",
       Map{{"role", "model"}, {"kind", "text"}, {"parent_id", *child.get("block_id")}});
    const auto count = [&](Map call) {
        return ok("block_list", std::move(call)).get("blocks")->as_list().size();
    };

    EXPECT_EQ(count({}), 1U);
    EXPECT_EQ(count({{"depth", 2}}), 2U);
    EXPECT_EQ(count({{"depth", 0}}), 3U);
    EXPECT_EQ(count({{"parent_id", root}}), 1U);
    EXPECT_EQ(count({{"parent_id", root}, {"depth", 0}}), 2U);
    EXPECT_EQ(count({{"depth", 0}, {"kind", "thinking"}}), 1U);
    EXPECT_EQ(count({{"depth", 0}, {"status", "done"}}), 0U);
    EXPECT_EQ(count({{"depth", 0}, {"path_prefix", "src/"}}), 0U);
    EXPECT_EQ(reason("block_list", Map{{"parent_id", "b404"}}), "invalid_reference");
    EXPECT_EQ(reason("block_list", Map{{"parent_id", root + "99"}}), "invalid_reference");
}

TEST_F(FullReads, AListComesInPages) {
    for (const char* content : {"1", "2", "3"}) block(content);
    const Value first = ok("block_list", Map{{"limit", 2}});
    ASSERT_TRUE(first.get("next_cursor")->is_string());
    const Value rest = ok("block_list", Map{{"limit", 2}, {"cursor", *first.get("next_cursor")}});

    EXPECT_EQ(first.get("blocks")->as_list().size(), 2U);
    ASSERT_EQ(rest.get("blocks")->as_list().size(), 1U);
    EXPECT_EQ(*rest.get("blocks")->as_list()[0].get("summary"), Value("3"));
    EXPECT_TRUE(rest.get("next_cursor")->is_null());
}

}  // namespace
}  // namespace quire
