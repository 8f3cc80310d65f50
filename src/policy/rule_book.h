// RuleBook: the rules of a workspace for every agent, compiled and checked once, at start.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/rule_analysis.h"
#include "policy/rule_set.h"
#include "policy/tool_catalog.h"
#include "policy/tool_rule.h"

namespace quire::policy {

// What the settings say.
struct WrittenRules {
    std::string file = "quire.toml";  // For messages.
    std::vector<ToolRule> common = {};
    std::map<std::string, std::vector<ToolRule>, std::less<>> own = {};  // By agent.
    // By agent, the profile that it works in, where that is settled.
    std::map<std::string, std::string, std::less<>> profiles = {};
};

// A finding with where it was found.
struct BookFinding {
    std::string agent = {};  // "" for the rules that all agents share.
    RuleFinding finding = {};
    std::vector<std::size_t> lines = {};
    std::string text = {};  // "quire.toml:12: …"
};

class RuleBook {
public:
    // Errors: invalid_argument "invalid_config" {file, line}: a tool that is not in the catalog, an
    // operation that the tool does not declare, exclusive_groups for a tool that is in none, a
    // count per conversation of a tool whose calls are in none, a scope that is more than a line of
    // plain text. What analyse() finds is no error here: findings().
    static Result<RuleBook> compile(ToolCatalog catalog, const WrittenRules& written);

    const ToolCatalog& catalog() const { return *catalog_; }
    // The agent's own and the common ones; the common ones for an agent without its own.
    std::shared_ptr<const RuleSet> rules_for(std::string_view agent) const;
    // Each set that rules_for() may give; the common ones first.
    std::vector<std::shared_ptr<const RuleSet>> all() const;
    // Errors first. What is found with the common rules is not told again for each agent. What is
    // an error in some of the profiles alone is one for an agent whose profile is settled, and a
    // warning otherwise.
    const std::vector<BookFinding>& findings() const { return findings_; }
    // Errors: invalid_argument "invalid_config" {file, line, problems}: the rules cannot be met.
    // The message has a line for each.
    Result<void> check() const;

private:
    RuleBook() = default;
    void look_at(const std::string& agent, const RuleSet& rules, std::string_view profile);
    void look_at_profiles(const std::string& agent, const RuleSet& rules, std::string_view profile);
    void take(const std::string& agent, const RuleSet& rules, RuleFinding finding,
              const std::string& where);

    std::string file_;
    std::shared_ptr<const ToolCatalog> catalog_;
    std::shared_ptr<const RuleSet> common_;
    std::map<std::string, std::shared_ptr<const RuleSet>, std::less<>> own_;
    std::vector<BookFinding> findings_;
};

}  // namespace quire::policy
