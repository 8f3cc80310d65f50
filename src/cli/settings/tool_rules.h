// The rules for tools that the settings hold, for every agent.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace quire::policy {
class RuleBook;
class ToolCatalog;
}  // namespace quire::policy

namespace quire::cli {

struct Settings;

// The tools that rules may name, with their operations: those of this version, and those that a
// later one has, so that settings can be shared with it.
policy::ToolCatalog known_tools();
// The same, with those that are `there`.
policy::ToolCatalog known_tools(const policy::ToolCatalog& there);
// Adds the tools that the rules name of those mounts: nobody knows yet which those have. A rule
// about one is a warning then, and no end.
void assume_mounted(const Settings& settings, const std::vector<std::string>& mounts,
                    policy::ToolCatalog& catalog);
// What a look at the settings alone has: known_tools(), and what is assumed of every mount.
policy::ToolCatalog tools_known_from(const Settings& settings);

// Compiled, for a look at what is wrong with them. Errors: those of RuleBook::compile().
Result<policy::RuleBook> compile_rules(const Settings& settings, policy::ToolCatalog catalog);
// The same, in words: those that cannot be, or cannot be met, and those that are of no effect.
struct RuleProblem {
    bool is_error = false;
    std::string text;
};
std::vector<RuleProblem> rule_problems(const Settings& settings);
// For whoever acts on them. Errors: those and those of RuleBook::check().
Result<policy::RuleBook> load_rules(const Settings& settings, policy::ToolCatalog catalog);

}  // namespace quire::cli
