#include "cli/settings/config.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "cli/settings/config_fault_for_test.h"
#include "cli/settings/tool_rules.h"
#include "json/json.h"
#include "policy/rule_book.h"

namespace quire::cli {
namespace {

const policy::Actor kAgent{policy::ActorKind::agent, "ada"};

// The contract's own example, whole.
constexpr std::string_view kExample = R"(
[[files.rules]]
pattern = "src/**/*.rs"
permission = "read_write"
operations_requiring_escalation = ["delete"]

[files]
watch = true
settle_ms = 100
ignore = [".gitignore", ".loroignore"]
save = "on_commit"

[shell]
enforcement = "audit"
network = false
timeout_s = 120

[[tools.rules]]
tool = "file"
type = "allowed_operations"
value = ["list", "read", "status"]

[agents.ada]
profile = "full"
[[agents.ada.tools.rules]]
tool = "shell"
type = "max_calls"
value = 20

[limits]
block_bytes = 1000
operation_bytes = 100
read_lines = 20
)";

TEST(Config, SourcesAreReadAndAnErrorThereStopsTheStart) {
    const auto settings = parse_config(R"([sources.diagnostics]
compile_commands = "build/compile_commands.json"
tool = "clang-tidy"
label = "lint"
timeout_s = 7
jobs = 3
)");
    ASSERT_TRUE(settings);
    ASSERT_TRUE(settings->diagnostics);
    EXPECT_EQ(settings->diagnostics->compile_commands, "build/compile_commands.json");
    EXPECT_EQ(settings->diagnostics->tool, "clang-tidy");
    EXPECT_EQ(settings->diagnostics->label, "lint");
    EXPECT_EQ(settings->diagnostics->timeout_s, 7);
    EXPECT_EQ(settings->diagnostics->jobs, 3U);
    EXPECT_FALSE(parse_config("")->diagnostics);

    EXPECT_EQ(message("[sources.diagnostics]\n"),
              "quire.toml:1: sources.diagnostics needs compile_commands, such as compile_commands "
              "= \"build/compile_commands.json\"");
    EXPECT_NE(message("[sources.weather]\n").find("unknown key 'sources.weather'"),
              std::string::npos);
    constexpr std::string_view kGood = "[sources.diagnostics]\ncompile_commands = \"c.json\"\n";
    EXPECT_EQ(message(kGood), "accepted");
    for (const std::string_view line :
         {"commands = 1", "jobs = 0", "jobs = 65", "timeout_s = 0", "tool = 1", "label = \"\""})
        EXPECT_EQ(message(cat(kGood, line)).substr(0, 13), "quire.toml:3:") << line;
}

TEST(Config, EverythingTheContractShowsIsUnderstood) {
    // TOML forbids opening [files] after [[files.rules]] only where that is a redefinition; this is
    // not.
    const auto parsed = parse_config(kExample);

    ASSERT_TRUE(parsed) << parsed.error().message();
    ASSERT_EQ(parsed->files.rules.size(), 1U);
    EXPECT_EQ(parsed->files.rules[0].pattern.pattern(), "src/**/*.rs");
    EXPECT_EQ(parsed->files.rules[0].permission, policy::Permission::read_write);
    EXPECT_TRUE(parsed->files.rules[0].escalated.has(policy::Operation::erase));
    EXPECT_EQ(parsed->files.rules[0].line, 3U);
    EXPECT_EQ(parsed->files.save, kernel::SaveWhen::on_commit);
    EXPECT_EQ(parsed->shell.enforcement, shell::Enforcement::audit);
    ASSERT_EQ(parsed->tool_rules.size(), 1U);
    EXPECT_EQ(parsed->tool_rules[0].type, policy::RuleType::allowed_operations);
    EXPECT_EQ(parsed->tool_rules[0].operations,
              (std::vector<std::string>{"list", "read", "status"}));
    EXPECT_EQ(parsed->agents.at("ada").profile, "full");
    EXPECT_EQ(parsed->agents.at("ada").tool_rules[0].number, 20);
    EXPECT_TRUE(load_rules(*parsed, known_tools()));
    EXPECT_EQ(parsed->limits.block_bytes, 1000U);
    EXPECT_EQ(parsed->limits.operation_bytes, 100U);
    EXPECT_EQ(parsed->limits.read_lines, 20U);
    EXPECT_EQ(parsed->limits.read_columns, kernel::Limits{}.read_columns);
}

TEST(Config, ARuleForToolsHasThePriorityOfItsTypeAndCountsPerSessionUnlessItSaysOtherwise) {
    const auto parsed = parse_config(R"([[tools.rules]]
tool = "file"
type = "requires_preceding_tools"
conditions = ["context"]
[[tools.rules]]
tool = "*"
type = "exclusive_groups"
value = [["file", "shell"], ["context", "memory"]]
per = "conversation"
priority = -3
metadata = { owner = "ops" }
)");

    ASSERT_TRUE(parsed) << parsed.error().message();
    const policy::ToolRule& first = parsed->tool_rules[0];
    EXPECT_EQ(first.tools, std::vector<std::string>{"context"});
    EXPECT_EQ(first.priority, 7);
    EXPECT_EQ(first.per, policy::Per::session);
    const policy::ToolRule& second = parsed->tool_rules[1];
    EXPECT_EQ(second.groups,
              (std::vector<std::vector<std::string>>{{"file", "shell"}, {"context", "memory"}}));
    EXPECT_EQ(second.priority, -3);
    EXPECT_EQ(second.per, policy::Per::conversation);
    EXPECT_EQ(second.metadata, (Map{{"owner", "ops"}}));
    EXPECT_EQ(second.line, 5U);
}

TEST(Config, AnEmptyFileIsAValidConfiguration) {
    const auto parsed = parse_config("");

    ASSERT_TRUE(parsed);
    EXPECT_TRUE(parsed->files.rules.empty());
    EXPECT_EQ(parsed->limits.block_bytes, 16U << 20);
}

TEST(Config, AnErrorNamesItsLineAndTheValidValues) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"[files]\nwatch = 1", "quire.toml:2: files.watch is true or false"},
        {"[files]\n\nwach = true",
         "quire.toml:3: unknown key 'files.wach', expected one of: rules, watch, settle_ms, "
         "ignore, save, notify, never_merge, git"},
        {"[[files.rules]]\npattern = \"a\"\npermission = \"admin\"\nonly = 1",
         "quire.toml:4: unknown key 'files.rules.only', expected one of: pattern, permission, "
         "operations_requiring_escalation, encoding"},
        {"[filez]",
         "quire.toml:1: unknown key 'filez', expected one of: files, shell, views, tools, agents, "
         "approvals, limits, memory, sources"},
        {"[[files.rules]]\npattern = \"a\"\npermission = \"rw\"",
         "quire.toml:3: unknown permission 'rw', expected: read_only, partner, human, append, "
         "read_write, admin"},
        {"[[files.rules]]\npattern = \"a[\"\npermission = \"admin\"",
         "quire.toml:2: the pattern 'a[' is malformed at byte 1: '[' has no ']'; write '\\[' for "
         "the character itself"},
        {"[[files.rules]]\npattern = \"a\"\npermission = "
         "\"admin\"\noperations_requiring_escalation = [\"rm\"]",
         "quire.toml:4: unknown operation 'rm', expected: read, create, append, overwrite, write, "
         "delete"},
        {"[[files.rules]]\npermission = \"admin\"",
         "quire.toml:1: files.rules needs pattern, such as pattern = \"src/**\""},
        {"[[files.rules]]\npattern = \"a\"",
         "quire.toml:1: files.rules needs permission, such as permission = \"read_write\""},
        {"[files.rules]\npattern = \"a\"",
         "quire.toml:1: files.rules is a list of tables; write [[files.rules]]"},
        {"[files]\nsave = \"always\"",
         "quire.toml:2: files.save cannot be 'always', expected one of: explicit, on_commit"},
        {"[shell]\nenforcement = \"maybe\"",
         "quire.toml:2: shell.enforcement cannot be 'maybe', expected one of: strict, warned, "
         "audit, none"},
        {"[shell]\ntimeout_s = 0",
         "quire.toml:2: shell.timeout_s is a whole number from 1 to 86400"},
        {"[limits]\nblock_bytes = -1",
         "quire.toml:2: limits.block_bytes is a whole number from 1 to 1073741824"},
        {"[files]\nignore = \"x\"",
         "quire.toml:2: files.ignore is a list of strings, such as [\"...\"]"},
        {"[[tools.rules]]\ntool = \"file\"\ntype = \"allowed_operations\"\nvalue = [\"read\", "
         "\"fly\"]",
         "quire.toml:4: the tool 'file' has no operation 'fly', expected: list, read, load, "
         "create, append, insert, "
         "replace, edit, patch, save, delete, status, events, conflicts, resolve, reconcile, "
         "stage, unstage"},
        {"[[tools.rules]]\ntool = \"block_read\"\ntype = \"allowed_operations\"\nvalue = "
         "[\"read\"]",
         "quire.toml:4: the tool 'block_read' declares no operations; allowed_operations works for "
         "context, file, file_history, shell, approvals, block_cursor, str_replace_based_edit_tool "
         "and memory"},
        {"[[tools.rules]]\ntool = \"*\"\ntype = \"start_constraint\"",
         "quire.toml:2: start_constraint is for one tool; \"*\" is for max_calls, cooldown, "
         "requires_preceding_tools, requires_following_tools, exclusive_groups, continue_loop, "
         "exit_loop, requires_consent"},
        {"[[tools.rules]]\ntool = \"file\"\ntype = \"max_calls\"\nvalue = 1\nper = \"day\"",
         "quire.toml:5: tools.rules.per cannot be 'day', expected one of: session, conversation, "
         "persistent"},
        {"[[tools.rules]]\ntool = \"file\"\ntype = \"needed\"\nper = \"session\"",
         "quire.toml:4: needed counts nothing, so it takes no per; max_calls, cooldown, "
         "exclusive_groups and requires_preceding_tools do"},
        {"[[tools.rules]]\ntool = \"file\"\ntype = \"needed\"\nconditions = [\"context\"]",
         "quire.toml:4: needed takes no conditions; requires_preceding_tools, "
         "requires_following_tools and required_before_exit_if do"},
        {"[[tools.rules]]\ntool = \"file\"\ntype = \"requires_preceding_tools\"\nvalue = "
         "[\"context\"]\nconditions = [\"context\"]",
         "quire.toml:5: requires_preceding_tools takes its tools as value or as conditions, not "
         "as both"},
        {"[[tools.rules]]\ntool = \"file\"\ntype = \"requires_preceding_tools\"",
         "quire.toml:1: requires_preceding_tools needs a list of tools, as value or as "
         "conditions"},
        {"[[tools.rules]]\ntool = \"file\"\ntype = \"max_calls\"",
         "quire.toml:1: max_calls needs a value"},
        {"[[tools.rules]]\ntool = \"file\"\ntype = \"cooldown\"\nvalue = \"5s\"",
         "quire.toml:4: the value of cooldown is a whole number of milliseconds, not negative"},
        {"[agents.ada]\nprofile = \"huge\"",
         "quire.toml:2: agents.ada.profile cannot be 'huge', expected one of: model, full, compat"},
    };
    for (const auto& [toml, expected] : cases) EXPECT_EQ(message(toml), expected);
    EXPECT_NE(
        message("[[tools.rules]]\ntool = \"fil\"\ntype = \"needed\"").find("unknown tool 'fil'"),
        std::string::npos);
    EXPECT_NE(message("[[tools.rules]]\ntool = \"file\"\ntype = \"often\"")
                  .find("unknown rule type 'often'"),
              std::string::npos);
    EXPECT_EQ(message("[[files.rules]]\npattern = \"a\"\npermission = \"admin\"\nencoding = "
                      "\"utf-61\""),
              cat("quire.toml:4: unknown encoding 'utf-61', expected one of: ",
                  listed_words<text::Charset>()));
    EXPECT_NE(message("a = [").find("quire.toml:1: it is not TOML: "), std::string::npos);
    EXPECT_NE(message("\n\n\"\xFF\" = 1").find("quire.toml:3: it is not UTF-8"), std::string::npos);
}

TEST(Config, TheFileThatInitWritesReadsBackAndProtectsWhatItNames) {
    const auto parsed = parse_config(default_config());
    ASSERT_TRUE(parsed) << parsed.error().message();

    const policy::PathRules rules(parsed->files.rules);
    const auto verdict = [&](std::string_view path, policy::Operation operation) {
        return name_of(rules.decide(path, operation, kAgent).verdict);
    };
    EXPECT_EQ(verdict("src/main.rs", policy::Operation::overwrite), "allow");
    EXPECT_EQ(verdict("src/main.rs", policy::Operation::erase), "escalate");
    EXPECT_EQ(verdict("src/deep/.env", policy::Operation::overwrite), "deny");
    EXPECT_EQ(verdict("tests/key.pem", policy::Operation::overwrite), "deny");
    EXPECT_EQ(verdict("tests/a_test.py", policy::Operation::create), "allow");
    EXPECT_EQ(verdict("README.md", policy::Operation::overwrite), "allow");
    EXPECT_EQ(verdict("scratch/x", policy::Operation::erase), "allow");
    EXPECT_EQ(verdict(".github/workflows/ci.yml", policy::Operation::overwrite), "escalate");
    EXPECT_EQ(verdict("Makefile", policy::Operation::overwrite), "deny");
    EXPECT_EQ(verdict("quire.toml", policy::Operation::overwrite), "deny");
}

TEST(Config, TheSectionsThatInitCommentsOutAreValidToo) {
    std::string uncommented;
    std::string line;
    for (const char c : std::string(default_config())) {
        if (c != '\n') {
            line += c;
            continue;
        }
        const bool setting = line.starts_with("# [") ||
                             (line.starts_with("# ") && line.find(" = ") != std::string::npos);
        uncommented += (setting ? line.substr(2) : line) + "\n";
        line.clear();
    }

    const auto parsed = parse_config(uncommented);

    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(parsed->tool_rules.size(), 2U);
    EXPECT_TRUE(load_rules(*parsed, known_tools()));
    EXPECT_TRUE(rule_problems(*parsed).empty()) << rule_problems(*parsed).front().text;
    EXPECT_EQ(parsed->agents.size(), 1U);
}

TEST(Config, PeopleAreAskedInTheClientUnlessTheFileSaysOtherwise) {
    EXPECT_TRUE(parse_config("")->approvals.elicitation);
    EXPECT_TRUE(parse_config("[approvals]\n")->approvals.elicitation);
    EXPECT_FALSE(parse_config("[approvals]\nelicitation = false\n")->approvals.elicitation);
    for (const char* wrong : {"[approvals]\nelicitation = \"no\"\n", "[approvals]\nelicit = true\n",
                              "approvals = false\n"})
        EXPECT_EQ(parse_config(wrong).error().reason(), "invalid_config") << wrong;
}

TEST(Config, MetadataThatIsNotJsonIsKeptAsText) {
    const auto parsed = parse_config(R"([[tools.rules]]
tool = "file"
type = "needed"
metadata = { day = 2026-11-23, at = 08:30:00, since = 2026-11-23T08:30:00Z, share = nan, more = [{ to = -inf }] }
)");
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(json::write(Value(parsed->tool_rules[0].metadata)),
              R"({"at":"08:30:00","day":"2026-11-23","more":[{"to":"-inf"}],"share":"nan",)"
              R"("since":"2026-11-23T08:30:00Z"})");
}

TEST(Config, TheWholeFileOfTheManualIsRead) {
    const auto parsed = parse_config(R"([[files.rules]]
pattern = "src/**/*.rs"
permission = "read_write"
encoding = "latin-1"
[files]
watch = true
settle_ms = 100
ignore = [".gitignore"]
save = "explicit"
notify = "changes"
never_merge = ["*.lock"]
[files.git]
ref = "refs/quire/main"
after_s = 30
[shell]
enforcement = "strict"
minimum_tier = "staged"
output_bytes = 10485760
processes = 512
memory_bytes = 4294967296
disk_bytes = 10737418240
network = false
timeout_s = 120
[memory]
render = "tags"
[memory.templates.bug_report]
schema = { Map = { fields = [ { name = "title", field_type = "Text", required = true } ] } }
[memory.tools]
labels = ["partner_profile"]
[limits]
message_bytes = 1000
in_flight_bytes = 2000
resident_bytes = 268435456
block_bytes = 16777216
)");

    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(parsed->messages, (MessageLimits{1000, 2000}));
    ASSERT_EQ(parsed->memory.templates.size(), 1U);
    EXPECT_EQ(json::write(parsed->memory.templates.at("bug_report").schema),
              R"({"Map":{"fields":[{"field_type":"Text","name":"title","required":true}]}})");
    EXPECT_EQ(parsed->files.rules.at(0).encoding, text::Charset::latin_1);
    ASSERT_EQ(parsed->files.never_merge_globs.size(), 1U);
    EXPECT_TRUE(parsed->files.never_merge_globs[0].matches("web/yarn.lock"));
    EXPECT_EQ(parsed->limits.resident_bytes, 268435456U);
    EXPECT_EQ(parsed->memory.tools.labels, std::vector<std::string>{"partner_profile"});
}

TEST(Config, WrongValuesAreNamed) {
    const std::pair<const char*, const char*> wrong[] = {
        {"[files.git]\nafter_s = \"soon\"", ":2: files.git.after_s is a whole number"},
        {"[files.git]\nafter_s = 1\nref = \"refs/heads/main\"", ":3: ref 'refs/heads/main' is not"},
        {"[files]\nnever_merge = 5", ":2: files.never_merge is a list of strings"},
        {"[files]\nnever_merge = [\"a\",\n\"[\"]", ":3: "},
        {"[shell]\nminimum_tier = \"high\"", ":2: shell.minimum_tier cannot be 'high'"},
        {"[memory]\nrender = \"html\"", ":2: memory.render cannot be 'html'"},
        {"[memory.templates.bug]\nshape = 1", ":1: a template needs a schema"},
        {"[memory.templates.bug]\nschema = 1", ":2: "},
        {"[memory.templates.bug]\nschema = { Map = { field = [] } }", ":2: "},
        {"[memory.templates.bug]\nschema = \"Text\"\ntitle = 1", ":3: unknown key"},
        {"[memory.templates.scratchpad]\nschema = \"Text\"", "'scratchpad' is built in"},
        {"[memory.tools]\nlabel = []", ":2: unknown key 'memory.tools.label'"},
        {"[memory.tools]\nlabels = [\"a-b\", \"c\", \"A.B\"]",
         ":2: the labels 'a-b' and 'A.B' would both make the tool remember_a_b"},
    };
    for (const auto& [toml, message] : wrong) {
        const auto parsed = parse_config(toml);
        ASSERT_FALSE(parsed) << toml;
        EXPECT_NE(parsed.error().message().find(message), std::string::npos)
            << parsed.error().message();
    }
}

TEST(Config, SectionsThatNeedANewKernelAreNamed) {
    const auto needs = [](std::string_view toml) {
        return needs_new_kernel(Settings{}, *parse_config(toml));
    };
    using Sections = std::vector<std::string>;
    EXPECT_EQ(needs("[[files.rules]]\npattern = \"**\"\npermission = \"admin\"\n"), Sections{});
    EXPECT_EQ(needs("[limits]\nread_lines = 5\n"), Sections{"[limits]"});
    EXPECT_EQ(needs("[limits]\nmessage_bytes = 5\n"), Sections{"[limits]"});
    EXPECT_EQ(needs("[memory.tools]\nlabels = [\"a\"]\n"), Sections{"[memory.tools]"});
    EXPECT_EQ(needs("[sources.diagnostics]\ncompile_commands = \"c.json\"\n"
                    "[tools.mount.fs]\ncommand = \"fs\"\n"),
              (Sections{"[sources]", "[tools.mount]"}));
}

TEST(Config, AWorkspaceWithoutTheFileHasTheDefaults) {
    const TestDirectory directory;
    EXPECT_TRUE(load_config(directory.path())->files.rules.empty());

    directory.put("quire.toml", "[shell]\nnetwork = 5\n");
    const auto wrong = load_config(directory.path());
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().message(),
              cat(directory / "quire.toml", ":2: shell.network is true or false"));
}

TEST(Config, AnUnreadableFileIsNamed) {
    const TestDirectory directory;
    directory.put("quire.toml/inside", "");
    const auto wrong = load_config(directory.path());
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().message(),
              cat(directory / "quire.toml", ":1: it cannot be read as a file"));
}

}  // namespace
}  // namespace quire::cli
