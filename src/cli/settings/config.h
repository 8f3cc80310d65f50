// quire.toml: an operator's settings, read once when the kernel starts.
//
// Anything that is not understood is refused: a rule with a misspelt key would otherwise protect
// nothing. Sections that only a later version acts on are read and checked too. Each struct lists
// its members once; toml_section.h reads them by that list.
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

namespace quire::cli {

// How strictly the rules for files bind commands of the shell (not built yet).
enum class Enforcement { strict, warned, audit, none };
constexpr auto words_of(Enforcement) {
    return word_table("strict", "warned", "audit", "none");
}

// [files]
struct FileSettings {
    // The rules in file order; the first that matches a path decides.
    std::vector<policy::PathRule> rules;
    bool watch = true;
    // The time without changes after which a file counts as settled.
    std::int64_t settle_ms = 100;
    // The names of files with patterns to ignore.
    std::vector<std::string> ignore = {".gitignore", ".loroignore"};
    kernel::SaveWhen save = kernel::SaveWhen::on_demand;
    // All members except the rules, which config.cc reads.
    static json::Fields<FileSettings> fields() {
        return json::Fields<FileSettings>()
            .optional("watch", &FileSettings::watch)
            .optional("settle_ms", &FileSettings::settle_ms, "",
                      {{"minimum", 0}, {"maximum", 60'000}})
            .optional("ignore", &FileSettings::ignore)
            .optional("save", &FileSettings::save);
    }
};

// [shell]
struct ShellSettings {
    Enforcement enforcement = Enforcement::strict;
    bool network = false;
    // The limit for one command.
    std::int64_t timeout_s = 120;
    static json::Fields<ShellSettings> fields() {
        return json::Fields<ShellSettings>()
            .optional("enforcement", &ShellSettings::enforcement)
            .optional("network", &ShellSettings::network)
            .optional("timeout_s", &ShellSettings::timeout_s, "",
                      {{"minimum", 1}, {"maximum", 86'400}});
    }
};

// [agents.NAME]
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

// [sources.diagnostics]
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
};

// [tools.mount.NAME]
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
};

// The whole file; every section may be absent.
struct Settings {
    std::string file = "quire.toml";  // The file that was read, for messages.
    FileSettings files;
    ShellSettings shell;
    // Rules that bind all agents, beside those of each agent.
    std::vector<policy::ToolRule> tool_rules;
    std::map<std::string, AgentSettings> agents;
    ApprovalSettings approvals;
    kernel::Limits limits;
    std::optional<DiagnosticsSettings> diagnostics;
    std::map<std::string, MountSettings> mounts;
};

// Reads the text of a quire.toml. `file` is its name in messages. Errors: invalid_argument
// "invalid_config" {file, line}; the message names both, the fault, and the valid values.
// tool_rules.h checks later that the tools which rules name exist, and that all rules can be met.
Result<Settings> parse_config(std::string_view toml, std::string_view file = "quire.toml");
// The settings of the workspace `directory`; the defaults if it has no quire.toml.
Result<Settings> load_config(const std::string& directory);

// The settings that have no effect in this version, one sentence each, because an operator might
// rely on one.
std::vector<std::string> not_acted_on(const Settings& settings);

// The file that `quire init` writes: rules that suit most source trees, and everything else in
// comments.
std::string_view default_config();

}  // namespace quire::cli
