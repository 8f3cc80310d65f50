// quire.toml: an operator's settings, read once when the kernel starts.
//
// What is not understood is refused, never passed over: a rule with a misspelt key would otherwise
// protect nothing. Sections that a later version acts on are read and checked all the same.
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
#include "kernel/core/kernel.h"
#include "policy/path_rules.h"
#include "policy/tool_rule.h"

namespace quire::cli {

enum class SaveWhen { on_demand, on_commit };
enum class Enforcement { strict, warned, audit, none };

struct FileSettings {
    std::vector<policy::PathRule> rules;
    bool watch = true;
    std::int64_t settle_ms = 100;
    std::vector<std::string> ignore = {".gitignore", ".loroignore"};
    SaveWhen save = SaveWhen::on_demand;
};

struct ShellSettings {
    Enforcement enforcement = Enforcement::strict;
    bool network = false;
    std::int64_t timeout_s = 120;
};

struct AgentSettings {
    std::optional<std::string> profile = {};
    std::vector<policy::ToolRule> tool_rules;
};

// [approvals]
struct ApprovalSettings {
    // Whether the person in front of an agent's MCP client is asked there, where it can ask.
    bool elicitation = true;
};

// [sources.diagnostics]
struct DiagnosticsSettings {
    std::string compile_commands;  // From the workspace's root, or absolute.
    std::string tool;              // A compiler, or clang-tidy; "" for the compiler of each entry.
    std::string label = "diagnostics";
    std::int64_t timeout_s = 120;  // Of one check.
    std::size_t jobs = 0;          // Checks at once; 0 for half of the processors.
};

// [tools.mount.NAME]
struct MountSettings {
    std::vector<std::string> command;               // The program, and its arguments.
    std::map<std::string, std::string> env;         // Beside what every program gets.
    std::string directory = ".";                    // From the workspace's root, or absolute.
    std::int64_t timeout_s = 60;                    // Of one call.
    std::map<std::string, std::string> operations;  // By tool, the argument that names its own.
};

struct Settings {
    std::string file = "quire.toml";  // Where they stand, for messages.
    FileSettings files;
    ShellSettings shell;
    std::vector<policy::ToolRule> tool_rules;
    std::map<std::string, AgentSettings> agents;
    ApprovalSettings approvals;
    kernel::Limits limits;
    std::optional<DiagnosticsSettings> diagnostics;
    std::map<std::string, MountSettings> mounts;
};

// Errors: invalid_argument "invalid_config" {file, line}: the message names both, what is wrong,
// and what would be right. Whether the tools of the rules for tools are there, and whether all of
// them can be met, is checked apart (tool_rules.h).
Result<Settings> parse_config(std::string_view toml, std::string_view file = "quire.toml");
// The settings of the workspace `directory`; the defaults where it has no quire.toml.
Result<Settings> load_config(const std::string& directory);

// What `settings` ask for and this version does not do, a sentence each: an operator who relies on
// a rule has to know that it does not hold.
std::vector<std::string> not_acted_on(const Settings& settings);

// What `quire init` writes: rules that suit most source trees, and everything else in comments.
std::string_view default_config();

}  // namespace quire::cli
