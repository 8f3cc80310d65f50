// A rule for tools: which of its operations an agent may use, how often, in which order, and when
// its work is done. docs/rules.md says what each type means; rule_set.h makes rules effective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace quire::policy {

enum class RuleType : std::uint8_t {
    allowed_operations,
    max_calls,
    cooldown,
    requires_preceding_tools,
    requires_following_tools,
    exclusive_groups,
    start_constraint,
    required_before_exit,
    required_before_exit_if,
    continue_loop,
    exit_loop,
    periodic,
    requires_consent,
    needed,
};
inline constexpr RuleType kRuleTypes[] = {RuleType::allowed_operations,
                                          RuleType::max_calls,
                                          RuleType::cooldown,
                                          RuleType::requires_preceding_tools,
                                          RuleType::requires_following_tools,
                                          RuleType::exclusive_groups,
                                          RuleType::start_constraint,
                                          RuleType::required_before_exit,
                                          RuleType::required_before_exit_if,
                                          RuleType::continue_loop,
                                          RuleType::exit_loop,
                                          RuleType::periodic,
                                          RuleType::requires_consent,
                                          RuleType::needed};

// For how long what was called counts: while the agent stays, within one conversation whoever of
// the agent's sessions calls, or ever.
enum class Per : std::uint8_t { session, conversation, persistent };
inline constexpr Per kPers[] = {Per::session, Per::conversation, Per::persistent};

std::string_view name_of(RuleType type);  // "allowed_operations" …
std::string_view name_of(Per per);
std::optional<RuleType> rule_type_named(std::string_view word);

// Which of two rules that refuse a call is told first, where the rule does not say: the higher.
std::int64_t default_priority(RuleType type);
// Whether it may be for "*", each tool on its own; the others name one tool.
bool may_be_for_every_tool(RuleType type);
// Whether it counts calls over time, so that `per` means something.
bool has_per(RuleType type);
// Whether its value is a list of other tools.
bool lists_tools(RuleType type);

// The members that its type does not use are empty.
struct ToolRule {
    std::string tool = {};  // "*" for every tool.
    RuleType type = RuleType::needed;
    std::vector<std::string> operations = {};           // allowed_operations
    std::vector<std::string> tools = {};                // What lists_tools().
    std::vector<std::vector<std::string>> groups = {};  // exclusive_groups
    std::int64_t number = 0;  // max_calls: how many; cooldown, periodic: milliseconds.
    std::string scope = {};   // requires_consent: what the consent is for; "" for the tool.
    std::int64_t priority = 0;
    Per per = Per::session;
    Map metadata = {};  // The operator's own; shown, and never acted on.
    // Where it stands in quire.toml, for messages; 0 where it comes from elsewhere.
    std::size_t line = 0;
    std::size_t tool_line = 0;
    std::size_t value_line = 0;

    bool for_every_tool() const { return tool == "*"; }
};

// What the rule says, as an object: {tool, type, value?, priority, per?, metadata?, line?}.
Map as_value(const ToolRule& rule);
// The same for two rules only if both demand the same of the same tool: where they stand, their
// priority and metadata do not matter, nor does the order within lists.
std::string demand_of(const ToolRule& rule);

// Exactly one sentence, for a model's prompt.
std::string in_words(const ToolRule& rule);
// "max_calls for `file` (quire.toml line 12)": how a message names it.
std::string named(const ToolRule& rule);

}  // namespace quire::policy
