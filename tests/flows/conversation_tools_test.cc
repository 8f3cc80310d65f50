// block_mark, block_fork and block_cursor, and pairs of tool_call and tool_result.
#include <gtest/gtest.h>

#include "tests/flows/full_desk.h"

namespace quire {
namespace {

TEST_F(Full, AMarkShowsInTheListWhereItIsSet) {
    const std::string id = block("words");
    EXPECT_EQ(*ok("block_mark", Map{{"block_id", id}, {"excluded", true}, {"collapsed", true}})
                   .get("version"),
              Value(2));
    const Value row = ok("block_list", Map{}).get("blocks")->as_list().front();
    EXPECT_EQ(*row.get("excluded"), Value(true));
    EXPECT_EQ(*row.get("collapsed"), Value(true));
    EXPECT_EQ(row.get("ephemeral"), nullptr);
    ok("block_undo", Map{{"block_id", id}});
    EXPECT_EQ(ok("block_list", Map{}).get("blocks")->as_list().front().get("excluded"), nullptr);
    EXPECT_EQ(reason("block_mark", Map{{"block_id", "b77"}, {"excluded", true}}),
              "invalid_reference");
    EXPECT_EQ(reason("block_mark", Map{{"block_id", id}, {"hidden", true}}), "invalid_arguments");
}

TEST_F(Full, AToolCallHasOneResult) {
    EXPECT_EQ(reason("block_create", parsed(R"({"role":"tool","kind":"tool_result"})")),
              "invalid_reference");
    const Value call = ok("block_create", parsed(R"({"role":"model","kind":"tool_call"})"));
    const Map result{{"role", "tool"},
                     {"kind", "tool_result"},
                     {"parent_id", *call.get("block_id")},
                     {"content", "out"}};
    ok("block_create", result);
    EXPECT_EQ(reason("block_create", result), "already_answered");
    EXPECT_EQ(*refused("block_create", result).find("code"), Value("conflict"));
    EXPECT_EQ(reason("block_fork", Map{{"as", "x"}, {"to", *call.get("block_id")}}), "splits_pair");
    EXPECT_EQ(ok("block_fork", Map{{"as", "x"}}).get("blocks")->as_list().size(), 2U);
}

TEST_F(Full, CursorsFollowTheText) {
    const std::string id = block("one two");
    ok("block_cursor", Map{{"operation", "set"},
                           {"block_id", id},
                           {"selections", List{Map{{"anchor", 4}, {"head", 7}}}}});
    ok("block_splice",
       Map{{"block_id", id}, {"offset", 0}, {"delete_count", 3}, {"insert", "ones"}});
    EXPECT_EQ(*ok("block_cursor", Map{{"operation", "get"}, {"block_id", id}}).get("cursors"),
              parsed(R"([{"actor":"agent:ada","selections":[{"anchor":5,"head":8}]}])"));
    EXPECT_EQ(reason("block_cursor", Map{{"operation", "set"}, {"block_id", id}}),
              "invalid_argument");
    EXPECT_EQ(*ok("block_cursor", Map{{"operation", "clear"}, {"block_id", id}}).get("cursors"),
              Value(List{}));
}

}  // namespace
}  // namespace quire
