#include "tools/brief_list.h"

#include <gtest/gtest.h>

#include "json/json.h"

namespace quire::tools {
namespace {

ToolInfo tool_of(std::string name, std::string_view properties) {
    ToolInfo out;
    out.name = std::move(name);
    out.input_schema =
        Map{{"type", "object"}, {"properties", json::parse(properties).value()}};
    return out;
}

// The arguments of the last tool, as they are published after the others.
std::string published_last(std::vector<ToolInfo> tools) {
    make_brief(tools);
    return json::write(*tools.back().input_schema.get("properties"));
}

TEST(BriefList, AnObjectSaysItsMembersInWords) {
    EXPECT_EQ(published_last({tool_of("show", R"({"range":{"type":"object","properties":
                  {"start":{"type":"integer"},"end":{"type":"integer"}},"required":["start"],
                  "additionalProperties":false,"description":"From 1."}})")}),
              R"({"range":{"type":"object","description":"{start, end?}. From 1."}})");
}

TEST(BriefList, TheItemsOfAnArrayAreDescribedByTheArray) {
    EXPECT_EQ(published_last({tool_of("edit", R"({"operations":{"type":"array","items":
                  {"type":"object","properties":{"op":{}},"required":["op"]},
                  "description":"{op}."}})")}),
              R"({"operations":{"type":"array","items":{"type":"object"},"description":"{op}."}})");
}

TEST(BriefList, BoundsAreLeftToTheRefusal) {
    EXPECT_EQ(published_last({tool_of("list", R"({"limit":{"type":"integer","minimum":1,
                  "maximum":9,"description":"Most.","default":2}})")}),
              R"({"limit":{"type":"integer","description":"Most.","default":2}})");
}

TEST(BriefList, LongListsOfWordsStandInTheFirstToolThatHasThem) {
    const ToolInfo first = tool_of("make", R"({"kind":{"enum":["a","b","c","d"]},
        "few":{"enum":["a","b"]}})");
    EXPECT_EQ(published_last({first}),
              R"({"kind":{"enum":["a","b","c","d"]},"few":{"enum":["a","b"]}})");
    EXPECT_EQ(published_last({first, tool_of("list", R"({"few":{"enum":["a","b"]},
                  "kind":{"enum":["a","b","c","d"],"description":"Only such.","default":"a"},
                  "status":{"enum":["a","b","c","d"]}})")}),
              R"({"few":{"enum":["a","b"]},)"
              R"("kind":{"type":"string","description":"Only such, as in make.","default":"a"},)"
              R"("status":{"enum":["a","b","c","d"]}})");
}

TEST(BriefList, AnotherProgramsToolIsPublishedAsItIs) {
    ToolInfo foreign = tool_of("theirs", R"({"n":{"minimum":1}})");
    foreign.foreign = true;
    EXPECT_EQ(published_last({foreign}), R"({"n":{"minimum":1}})");
}

}  // namespace
}  // namespace quire::tools
