// The settings of mounts: other programs' servers, and rules for their tools.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "cli/settings/config.h"
#include "cli/settings/config_fault_for_test.h"
#include "cli/settings/tool_rules.h"

namespace quire::cli {
namespace {

TEST(ConfigMounts, AMountIsACommandWithItsSettings) {
    const auto settings = parse_config(R"(
[tools.mount.fs]
command = ["npx", "-y", "server"]
env = { TOKEN = "t" }
directory = "sub"
timeout_s = 5
operations = { issue = "action" }
[tools.mount.web_2]
command = "web-server"
)");
    ASSERT_TRUE(settings) << settings.error().message();
    const MountSettings& fs = settings->mounts.at("fs");
    EXPECT_EQ(fs.command, (std::vector<std::string>{"npx", "-y", "server"}));
    EXPECT_EQ(fs.env.at("TOKEN"), "t");
    EXPECT_EQ(fs.directory, "sub");
    EXPECT_EQ(fs.timeout_s, 5);
    EXPECT_EQ(fs.operations.at("issue"), "action");
    EXPECT_EQ(settings->mounts.at("web_2").command, std::vector<std::string>{"web-server"});
}

TEST(ConfigMounts, AnErrorInAMountNamesItsLineAndRevealsNoValue) {
    const auto told = [](std::string_view members, std::string_view name = "fs") {
        return message(cat("[tools.mount.", name, "]\n", members));
    };
    EXPECT_EQ(told(""),
              "quire.toml:1: a mount needs a command, such as command = [\"npx\", \"-y\", "
              "\"some-server\"]");
    EXPECT_TRUE(told("command = []").starts_with("quire.toml:2: a mount needs a command"));
    EXPECT_EQ(
        told("command = 7"),
        "quire.toml:2: tools.mount.fs.command is a program, or a list of it and its arguments");
    EXPECT_EQ(told("command = \"a\"\nenv = { TOKEN = 5 }"),
              "quire.toml:3: env is a table of strings, such as env = { TOKEN = \"...\" }");
    EXPECT_EQ(told("command = \"a\"\noperations = { issue = \"\" }"),
              "quire.toml:3: operations names no argument for the tool 'issue': none of its "
              "operations would be known");
    EXPECT_EQ(told("command = \"a\"\nshell = true"),
              "quire.toml:3: unknown key 'tools.mount.fs.shell', expected one of: command, env, "
              "operations, directory, timeout_s");
    EXPECT_EQ(told("command = \"a\"\ntimeout_s = 0"),
              "quire.toml:3: tools.mount.fs.timeout_s is a whole number from 1 to 3600");
    EXPECT_EQ(told("command = \"a\"", "Fs"),
              "quire.toml:1: 'Fs' cannot be a mount's name: small letters, digits and _, a letter "
              "first, at most 32");
    EXPECT_EQ(message("[tools.mount]\nfs = 7"),
              "quire.toml:2: tools.mount.fs is a table; write [tools.mount.fs]");
}

TEST(ConfigMounts, ARuleForAToolOfAMountIsAWarningWhereNobodyKnowsItsTools) {
    const auto settings = parse_config(R"(
[tools.mount.fs]
command = "a"
[[tools.rules]]
tool = "fs_edit"
type = "allowed_operations"
value = ["get"]
[[tools.rules]]
tool = "file"
type = "requires_preceding_tools"
value = ["fs_look"]
)");
    ASSERT_TRUE(settings);
    EXPECT_TRUE(load_rules(*settings, tools_known_from(*settings)));
    EXPECT_FALSE(load_rules(*settings, known_tools()));
    const std::vector<RuleProblem> problems = rule_problems(*settings);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_FALSE(problems[0].is_error);
    EXPECT_NE(problems[0].text.find("`fs_edit` cannot be checked"), std::string::npos)
        << problems[0].text;
}

}  // namespace
}  // namespace quire::cli
