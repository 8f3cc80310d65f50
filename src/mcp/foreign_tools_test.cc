// Tools of another program, as they are served.
#include <gtest/gtest.h>

#include "json/json.h"
#include "mcp/mcp.h"
#include "mcp/repeatable.h"

namespace quire::mcp {
namespace {

TEST(ForeignTools, ContentOfForeignToolsIsServedUnchanged) {
    tools::ToolAnswer result;
    result.text = "in words";
    result.content = List{Map{{"type", "image"}, {"data", "AA=="}, {"mimeType", "image/png"}}};
    EXPECT_EQ(
        json::write(call_result({result}, "2025-11-25")),
        R"({"content":[{"type":"image","data":"AA==","mimeType":"image/png"}],"isError":false})");
    result.structured = Map{{"n", 1}};
    EXPECT_EQ(json::write(*call_result({result}, "2025-11-25").find("structuredContent")),
              R"({"n":1})");
    EXPECT_EQ(call_result({result}, "2024-11-05").find("structuredContent"), nullptr);
}

TEST(ForeignTools, TheirPromisesAreNoReasonToCallThemTwice) {
    tools::ToolInfo info;
    info.name = "m_read";
    info.annotations.read_only = true;
    EXPECT_TRUE(Repeatable::reads_of({info}).contains("m_read"));
    info.foreign = true;
    EXPECT_FALSE(Repeatable::reads_of({info}).contains("m_read"));
}

}  // namespace
}  // namespace quire::mcp
