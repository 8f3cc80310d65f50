#include "cli/exchange/client_settings.h"

#include <gtest/gtest.h>

#include "base/value.h"
#include "cli/exchange/jsonc_edit.h"
#include "json/json.h"

namespace quire::cli {
namespace {

const ServerEntry kEntry = {"/usr/bin/quire", {"mcp", "--workspace", "/p"}};

TEST(ClientSettings, ANewFileHoldsTheEntryAndNothingElse) {
    EXPECT_EQ(*with_server(*find_client("claude"), "", kEntry), R"({
  "mcpServers": {
    "quire": {
      "command": "/usr/bin/quire",
      "args": ["mcp", "--workspace", "/p"]
    }
  }
}
)");
    EXPECT_EQ(*with_server(*find_client("vscode"), "", kEntry), R"({
  "servers": {
    "quire": {
      "type": "stdio",
      "command": "/usr/bin/quire",
      "args": ["mcp", "--workspace", "/p"]
    }
  }
}
)");
    EXPECT_EQ(*with_server(*find_client("codex"), "", kEntry), R"([mcp_servers.quire]
command = "/usr/bin/quire"
args = ["mcp","--workspace","/p"]
)");
}

// A comment that a person wrote beside our entry stays when the entry goes.
TEST(ClientSettings, RemovingKeepsCommentsThatCameLater) {
    const McpClient& claude = *find_client("claude");
    const std::string made = *with_server(claude, "", kEntry);
    const auto with_comment = [&](std::string_view before, std::string_view comment) {
        std::string text = made;
        return text.insert(text.find(before), comment);
    };
    for (const std::string& text : {
             with_comment("\"quire\"", "// mine\n    "),
             with_comment("\n  }\n}", " // mine"),
             with_comment("\"mcpServers\"", "/* mine */ "),
             made + "// mine\n",
         }) {
        const auto without = without_server(claude, text);
        ASSERT_TRUE(without) << text;
        EXPECT_NE(without->find("mine"), std::string::npos) << text << "became\n" << *without;
        EXPECT_FALSE(*jsonc_value(*without, {"mcpServers", "quire"}));
    }
}

TEST(ClientSettings, RemovingGivesBackEveryFileByteForByte) {
    for (const std::string before : {
             "",
             "{}",
             "{\n}\n",
             "{ }",
             R"({"mcpServers":{}})",
             R"({"mcpServers": { /* none */ }, "z": 1})",
             R"({"a":1})",
             R"({"a": 1, "b": [1, 2,],})",
             "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}",
             "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // why\n\t},\n\t\"other\": true // end\n\t/* "
             "x */\n}\n",
             "{\r\n  \"mcpServers\": {\r\n    \"a\": {\"b\": \"}\"}\r\n  }\r\n}\r\n",
             "// first\n{\n  \"theme\": \"dark\" // colours\n}\n",
             "{\"a\": 1 // one line\n}",
             "\xef\xbb\xbf{\n    \"a\": null\n}\n",
         }) {
        const auto with = with_server(*find_client("claude"), before, kEntry);
        ASSERT_TRUE(with) << before << with.error().message();
        const auto value = jsonc_value(*with, {"mcpServers", "quire"});
        ASSERT_TRUE(value && *value) << *with;
        EXPECT_EQ(*(**value).get("command"), Value("/usr/bin/quire")) << *with;
        EXPECT_EQ(*with_server(*find_client("claude"), *with, kEntry), *with);
        EXPECT_EQ(*without_server(*find_client("claude"), *with), before) << *with;
    }
    for (const std::string before : {"", "model = \"x\"\n", "model = \"x\"",
                                     "# mine\n[mcp_servers.other]\ncommand = \"y\" # z\n\n",
                                     "[mcp_servers]\n[a]\nb = [\n  1,\n]\n"}) {
        const auto with = with_server(*find_client("codex"), before, kEntry);
        ASSERT_TRUE(with) << before << with.error().message();
        EXPECT_EQ(*without_server(*find_client("codex"), *with), before) << *with;
    }
}

TEST(ClientSettings, WhatStandsBehindTheEntryStays) {
    const McpClient& codex = *find_client("codex");
    const std::string with = *with_server(codex, "a = 1\n", kEntry) + "\n# about b\n[b]\nc = 2\n";
    EXPECT_EQ(*without_server(codex, with), "a = 1\n\n\n# about b\n[b]\nc = 2\n");
    const McpClient& claude = *find_client("claude");
    const std::string first = R"({"mcpServers": {"quire": {"args": ["mcp"]}, "b": {}}})";
    EXPECT_EQ(*without_server(claude, first), R"({"mcpServers": {"b": {}}})");
}

TEST(ClientSettings, AnEntryOfAnEarlierProgramIsReplacedInItsPlace) {
    const std::string old =
        R"({"mcpServers": {"quire": {"command": "old", "args": ["mcp"]}, "b": 1}})";
    const auto text = with_server(*find_client("cursor"), old, kEntry);
    ASSERT_TRUE(text);
    EXPECT_TRUE(text->starts_with(R"({"mcpServers": {"quire": {)"));
    EXPECT_TRUE(text->ends_with(R"(}, "b": 1}})"));
    EXPECT_EQ(*(**jsonc_value(*text, {"mcpServers", "quire"})).get("command"),
              Value("/usr/bin/quire"));
}

TEST(ClientSettings, AnEntryThatSomebodyChangedIsLeftAlone) {
    const McpClient& claude = *find_client("claude");
    for (const char* text : {R"({"mcpServers": {"quire": {"args": ["mcp"], "env": {}}}})",
                             R"({"mcpServers": {"quire": {"command": "x", "args": ["serve"]}}})",
                             R"({"mcpServers": {"quire": "mine"}})"}) {
        EXPECT_EQ(with_server(claude, text, kEntry).error().reason(), "foreign_entry");
        EXPECT_EQ(without_server(claude, text).error().reason(), "foreign_entry");
    }
    const char* toml =
        "[mcp_servers.quire]\nargs = [\"mcp\"]\n[mcp_servers.quire.env]\nA = \"b\"\n";
    EXPECT_EQ(without_server(*find_client("codex"), toml).error().reason(), "foreign_entry");
}

TEST(ClientSettings, AFileThatCannotBeReadIsRefusedWithItsLine) {
    const auto json = with_server(*find_client("gemini"), "{\n  \"a\": tru\n}", kEntry);
    EXPECT_EQ(json.error().reason(), "invalid_json");
    EXPECT_TRUE(json.error().message().starts_with(".gemini/settings.json: line 2: "));
    EXPECT_EQ(with_server(*find_client("claude"), "[]", kEntry).error().reason(), "not_an_object");
    EXPECT_EQ(with_server(*find_client("claude"), R"({"mcpServers": 3})", kEntry).error().reason(),
              "not_an_object");
    const auto toml = with_server(*find_client("codex"), "a = 1\nb =\n", kEntry);
    EXPECT_EQ(toml.error().reason(), "invalid_toml");
    EXPECT_EQ(*toml.error().details().find("line"), Value(2));
    EXPECT_EQ(with_server(*find_client("codex"), "mcp_servers = {}\n", kEntry).error().reason(),
              "not_a_table");
    EXPECT_EQ(without_server(*find_client("claude"), "{}").error().reason(), "no_entry");
}

}  // namespace
}  // namespace quire::cli
