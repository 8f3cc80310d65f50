// The rules for tools in the settings, compiled for every agent.
//
// Rules are written by people before the tools are known: tools come from this version, from labels
// of memory blocks and from mounted servers. A catalog says which exist, and policy/rule_book.h
// compiles the rules against it.
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
// known_tools(), and those that are `there`. A tool that is there keeps its own operations, to
// which known ones are added as those of a later version.
policy::ToolCatalog known_tools(const policy::ToolCatalog& there);
// Adds the tools of these mounts that the rules name, because nobody knows yet what tools the
// mounts have. A rule about one is then a warning, not an error.
void assume_mounted(const Settings& settings, const std::vector<std::string>& mounts,
                    policy::ToolCatalog& catalog);
// The tools that are known from the settings alone: known_tools(), those for memory blocks, and those
// assumed of the mounts.
policy::ToolCatalog tools_known_from(const Settings& settings);

// The compiled rules, with their problems. Errors: those of RuleBook::compile(). Where a source is
// on, the tools by which agents use it are required as well.
Result<policy::RuleBook> compile_rules(const Settings& settings, policy::ToolCatalog catalog);
// The problems in words: rules that are invalid or cannot be met, and rules without effect. No
// kernel is needed: the tools are those of tools_known_from().
struct RuleProblem {
    bool is_error = false;
    std::string text;
};
std::vector<RuleProblem> rule_problems(const Settings& settings);
// The compiled rules, if they can be met. Errors: those of compile_rules() and RuleBook::check().
Result<policy::RuleBook> load_rules(const Settings& settings, policy::ToolCatalog catalog);

}  // namespace quire::cli
