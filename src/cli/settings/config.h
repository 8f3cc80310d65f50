// quire.toml: an operator's settings, read when the kernel starts and again when they change.
//
// Anything that is not understood is refused: a rule with a misspelt key would otherwise protect
// nothing. Sections that only a later version acts on are read and checked too. Each struct lists
// its members once; toml_section.h reads them by that list.
//
//     text of the file -> toml++ -> Section, by the field list of each struct -> Settings
//
// Settings are values without any connection to what runs: cli/compose turns them into the forms
// that the parts of a kernel take (cli/compose/kernel_settings.h). A member that the file leaves
// out has the value that its struct shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "json/fields.h"
#include "kernel/core/parts.h"
#include "kernel/files/save_when.h"
#include "policy/path_rules.h"
#include "policy/tool_rule.h"
#include "shell/enforcement.h"
#include "text/glob.h"

namespace quire::cli {

// [files.git]: commits of the workspace's files to a ref of Quire's own, made once nothing has
// changed for `after_s` seconds. The ref is one of is_own_ref().
struct FileGitSettings {
    std::string ref = "refs/quire/main";
    std::int64_t after_s = 30;
    static json::Fields<FileGitSettings> fields() {
        return json::Fields<FileGitSettings>()
            .optional("ref", &FileGitSettings::ref)
            .optional("after_s", &FileGitSettings::after_s, "",
                      {{"minimum", 0}, {"maximum", 86'400}});
    }
};

// [files]
struct FileSettings {
    // The rules in file order; the first that matches a path decides.
    std::vector<policy::PathRule> rules;
    bool watch = true;
    // The time without changes after which a file counts as settled.
    std::int64_t settle_ms = 100;
    // The names of files with patterns to ignore.
    std::vector<std::string> ignore = {".gitignore", ".loroignore"};
    // With on_demand, "explicit" in the file, an edit stays in the document until the file is
    // saved; on_commit saves it with each edit.
    kernel::SaveWhen save = kernel::SaveWhen::on_demand;
    std::string notify;  // The label of a Log of changes on the disk; "" for none.
    std::optional<FileGitSettings> git;
    // Files in which two changed sides are never merged.
    std::vector<std::string> never_merge;
    std::vector<text::Glob> never_merge_globs;  // never_merge, compiled.
    // All members except the rules, the globs and the section for git, which config.cc reads.
    static json::Fields<FileSettings> fields() {
        return json::Fields<FileSettings>()
            .optional("watch", &FileSettings::watch)
            .optional("settle_ms", &FileSettings::settle_ms, "",
                      {{"minimum", 0}, {"maximum", 60'000}})
            .optional("ignore", &FileSettings::ignore)
            .optional("save", &FileSettings::save)
            .optional("notify", &FileSettings::notify)
            .optional("never_merge", &FileSettings::never_merge);
    }
};

// [views]: when the hooks of an agent that works in an adopted tree bring its changes: after each
// of its turns, or then once a person has allowed it; or never.
enum class LandWhen { turn, ask, manual };
constexpr auto words_of(LandWhen) {
    return word_table("turn", "ask", "manual");
}
struct ViewSettings {
    LandWhen land = LandWhen::turn;
    static json::Fields<ViewSettings> fields() {
        return json::Fields<ViewSettings>().optional("land", &ViewSettings::land);
    }
};

// [shell]: how commands of agents are judged and confined.
struct ShellSettings {
    shell::Enforcement enforcement = shell::Enforcement::strict;
    // The weakest confinement under which a command that changes files may run. A word of
    // stage::Tier; staged is the strongest.
    std::string minimum_tier = "staged";
    // True if commands may reach the network.
    bool network = false;
    // The limits for one command.
    std::int64_t timeout_s = 120;
    std::int64_t output_bytes = std::int64_t{10} << 20;
    std::int64_t processes = 512;
    std::int64_t memory_bytes = std::int64_t{4} << 30;
    std::int64_t disk_bytes = std::int64_t{10} << 30;
    static json::Fields<ShellSettings> fields() {
        const Map bytes{{"minimum", 1}, {"maximum", std::int64_t{1} << 50}};
        return json::Fields<ShellSettings>()
            .optional("enforcement", &ShellSettings::enforcement)
            .optional("minimum_tier", &ShellSettings::minimum_tier, "",
                      {{"enum", List{"staged", "bubblewrap", "landlock", "observed"}}})
            .optional("network", &ShellSettings::network)
            .optional("timeout_s", &ShellSettings::timeout_s, "",
                      {{"minimum", 1}, {"maximum", 86'400}})
            .optional("output_bytes", &ShellSettings::output_bytes, "", bytes)
            .optional("processes", &ShellSettings::processes, "",
                      {{"minimum", 1}, {"maximum", 1'000'000}})
            .optional("memory_bytes", &ShellSettings::memory_bytes, "", bytes)
            .optional("disk_bytes", &ShellSettings::disk_bytes, "", bytes);
    }
};

// [agents.NAME]: NAME is the agent's name without its kind: "ada" for agent:ada.
struct AgentSettings {
    // The profile of the agent's tools if its client names none; absent: model.
    std::optional<std::string> profile = {};
    std::vector<policy::ToolRule> tool_rules = {};
    // All members except the rules, which tool_rule_settings.h reads.
    static json::Fields<AgentSettings> fields() {
        return json::Fields<AgentSettings>().optional("profile", &AgentSettings::profile, "",
                                                      {{"enum", List{"model", "full", "compat"}}});
    }
};

// [approvals]
struct ApprovalSettings {
    // True if approvals are asked for in the agent's MCP client, provided that it can show a
    // question.
    bool elicitation = true;
    static json::Fields<ApprovalSettings> fields() {
        return json::Fields<ApprovalSettings>().optional("elicitation",
                                                         &ApprovalSettings::elicitation);
    }
};

// [memory.templates.NAME]: a template beside those that are built in, whose names it may not have.
struct TemplateSettings {
    std::string description;
    Value schema = {};  // memory::parse_schema() accepts it.
    // All members except the schema, which config.cc reads.
    static json::Fields<TemplateSettings> fields() {
        return json::Fields<TemplateSettings>().optional("description",
                                                         &TemplateSettings::description);
    }
};

// [memory.tools]
struct MemoryToolSettings {
    std::vector<std::string> labels;  // Each makes a tool (memory/remember.h).
    static json::Fields<MemoryToolSettings> fields() {
        return json::Fields<MemoryToolSettings>().optional("labels", &MemoryToolSettings::labels);
    }
    friend bool operator==(const MemoryToolSettings&, const MemoryToolSettings&) = default;
};

// [memory]
struct MemorySettings {
    std::string render = "tags";  // A word of memory::RenderStyle.
    std::map<std::string, TemplateSettings> templates;
    MemoryToolSettings tools;
    // All members except the templates and the tools, which config.cc reads.
    static json::Fields<MemorySettings> fields() {
        return json::Fields<MemorySettings>().optional("render", &MemorySettings::render, "",
                                                       {{"enum", List{"tags", "plain"}}});
    }
};

// [sources.diagnostics]: the program that checks is chosen by the operator here and in
// compile_commands.json, never by agents.
struct DiagnosticsSettings {
    std::string compile_commands;  // From the workspace's root, or absolute.
    std::string tool;              // A compiler, or clang-tidy; "" for the compiler of each entry.
    std::string label = "diagnostics";
    std::int64_t timeout_s = 120;  // The limit for one check.
    std::size_t jobs = 0;          // Checks at once; 0 for half of the processors.
    static json::Fields<DiagnosticsSettings> fields() {
        return json::Fields<DiagnosticsSettings>()
            .required("compile_commands", &DiagnosticsSettings::compile_commands,
                      "\"build/compile_commands.json\"")
            .optional("tool", &DiagnosticsSettings::tool)
            .optional("label", &DiagnosticsSettings::label)
            .optional("timeout_s", &DiagnosticsSettings::timeout_s, "",
                      {{"minimum", 1}, {"maximum", 3'600}})
            .optional("jobs", &DiagnosticsSettings::jobs, "", {{"minimum", 1}, {"maximum", 64}});
    }
    friend bool operator==(const DiagnosticsSettings&, const DiagnosticsSettings&) = default;
};

// [tools.mount.NAME]: NAME begins the names of the server's tools: fs_read for the tool `read` of
// the mount `fs`.
struct MountSettings {
    std::vector<std::string> command;        // The program, and its arguments.
    std::map<std::string, std::string> env;  // Beside what every program gets.
    std::string directory = ".";             // From the workspace's root, or absolute.
    std::int64_t timeout_s = 60;             // The limit for one call.
    // For each tool, the argument that names its operation.
    std::map<std::string, std::string> operations;
    // All but the program and the two tables.
    static json::Fields<MountSettings> fields() {
        return json::Fields<MountSettings>()
            .optional("directory", &MountSettings::directory)
            .optional("timeout_s", &MountSettings::timeout_s, "",
                      {{"minimum", 1}, {"maximum", 3'600}});
    }
    friend bool operator==(const MountSettings&, const MountSettings&) = default;
};

// The members of [limits] that bound messages; kernel::Limits has those that bound texts.
struct MessageLimits {
    std::size_t message_bytes = 8U << 20;     // Longer messages are refused before they are parsed.
    std::size_t in_flight_bytes = 64U << 20;  // Requests and answers of all clients together.
    static json::Fields<MessageLimits> fields() {
        const Map bytes{{"minimum", 1}, {"maximum", std::int64_t{1} << 30}};
        return json::Fields<MessageLimits>()
            .optional("message_bytes", &MessageLimits::message_bytes, "", bytes)
            .optional("in_flight_bytes", &MessageLimits::in_flight_bytes, "", bytes);
    }
    friend bool operator==(const MessageLimits&, const MessageLimits&) = default;
};

// The whole file; every section may be absent. Settings{} is what holds in a workspace without a
// quire.toml: no rule for files, so that all of them are read-only for agents.
struct Settings {
    std::string file = "quire.toml";  // The file that was read, for messages.
    FileSettings files;
    ShellSettings shell;
    ViewSettings views;
    // Rules that bind all agents, beside those of each agent.
    std::vector<policy::ToolRule> tool_rules;
    std::map<std::string, AgentSettings> agents;
    ApprovalSettings approvals;
    kernel::Limits limits;
    MessageLimits messages;
    MemorySettings memory;
    std::optional<DiagnosticsSettings> diagnostics;
    std::map<std::string, MountSettings> mounts;
};

// Reads the text of a quire.toml. `file` is its name in messages. Errors: invalid_argument
// "invalid_config" {file, line}; the message names both, the fault, and the valid values.
// tool_rules.h checks later that the tools which rules name exist, and that all rules can be met.
Result<Settings> parse_config(std::string_view toml, std::string_view file = "quire.toml");
// The text of the quire.toml in `directory`; none if it has none. Errors: invalid_argument
// "invalid_config" when it cannot be read. An empty file is a text, and none is no file: the
// defaults hold in both cases.
Result<std::optional<std::string>> read_config(const std::string& directory);
// The name of that file.
std::string config_file(const std::string& directory);
// The settings of the workspace `directory`; the defaults if it has no quire.toml. Errors: those of
// read_config() and parse_config().
Result<Settings> load_config(const std::string& directory);

// The sections in which `now` differs from what a kernel was started with, of those that take
// effect only in a new kernel: "[limits]", "[memory.tools]", "[sources]", "[tools.mount]". Every
// other section holds from the next call on (cli/compose/live_settings.h).
std::vector<std::string> needs_new_kernel(const Settings& started, const Settings& now);

// The file that `quire init` writes: rules that suit most source trees, and everything else in
// comments.
std::string_view default_config();

}  // namespace quire::cli
