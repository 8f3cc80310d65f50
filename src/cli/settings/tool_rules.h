// The rules for tools in the settings, compiled for every agent.
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

// The tools that rules may name, with their operations: those of this version and of later ones.
policy::ToolCatalog known_tools();
// known_tools(), and those that are `there`.
policy::ToolCatalog known_tools(const policy::ToolCatalog& there);
// Adds the tools of these mounts that the rules name, because nobody knows yet what tools the
// mounts have. A rule about one is then a warning, not an error.
void assume_mounted(const Settings& settings, const std::vector<std::string>& mounts,
                    policy::ToolCatalog& catalog);
// The tools that are known from the settings alone: known_tools(), those for memory blocks, and those
// assumed of the mounts.
policy::ToolCatalog tools_known_from(const Settings& settings);

// The compiled rules, with their problems. Errors: those of RuleBook::compile().
Result<policy::RuleBook> compile_rules(const Settings& settings, policy::ToolCatalog catalog);
// The problems in words: rules that are invalid or cannot be met, and rules without effect.
struct RuleProblem {
    bool is_error = false;
    std::string text;
};
std::vector<RuleProblem> rule_problems(const Settings& settings);
// The compiled rules, if they can be met. Errors: those of compile_rules() and RuleBook::check().
Result<policy::RuleBook> load_rules(const Settings& settings, policy::ToolCatalog catalog);

}  // namespace quire::cli
