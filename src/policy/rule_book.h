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

// The rules as the settings state them.
struct WrittenRules {
    std::string file = "quire.toml";  // For messages.
    std::vector<ToolRule> common = {};
    std::map<std::string, std::vector<ToolRule>, std::less<>> own = {};  // Indexed by agent.
    // The profile of each agent whose profile is fixed, indexed by agent.
    std::map<std::string, std::string, std::less<>> profiles = {};
};

// A finding with its place in the settings.
struct BookFinding {
    std::string agent = {};  // "" for the rules that all agents share.
    RuleFinding finding = {};
    std::vector<std::size_t> lines = {};
    std::string text = {};  // "quire.toml:12: …"
};

// The compiled rules. Immutable; usable from any thread.
class RuleBook {
public:
    // Errors: invalid_argument "invalid_config" {file, line}: a tool that the catalog lacks, an
    // operation that the tool does not declare, exclusive_groups for a tool in none of the groups,
    // a count per conversation for a tool that works in none, a scope that is not one line of plain
    // text. The findings of analyse() are no errors here: see findings().
    static Result<RuleBook> compile(ToolCatalog catalog, const WrittenRules& written);

    const ToolCatalog& catalog() const { return *catalog_; }
    // The common rules plus the agent's own. An agent without own rules gets the common ones.
    std::shared_ptr<const RuleSet> rules_for(std::string_view agent) const;
    // Each set that rules_for() may return; the common one first.
    std::vector<std::shared_ptr<const RuleSet>> all() const;
    // Errors first. A finding about the common rules is not repeated for each agent. An error that
    // occurs only in some profiles is an error for an agent with one of those profiles and a
    // warning for agents without a fixed profile.
    const std::vector<BookFinding>& findings() const { return findings_; }
    // Errors: invalid_argument "invalid_config" {file, line, problems} if the rules cannot be met.
    // The message has one line per problem.
    Result<void> check() const;

private:
    RuleBook() = default;
    // Adds what analyse() finds in one set of rules, in the profile or in each that there is.
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
