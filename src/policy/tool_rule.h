// A rule for tools: which operations an agent may use, how often, in which order, and when its work
// is done. docs/rules.md explains each type; rule_set.h makes rules effective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_words.h"
#include "base/value.h"

namespace quire::policy {

// The fourteen types of rules.
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
constexpr auto words_of(RuleType) {
    return word_table("allowed_operations", "max_calls", "cooldown", "requires_preceding_tools",
                      "requires_following_tools", "exclusive_groups", "start_constraint",
                      "required_before_exit", "required_before_exit_if", "continue_loop",
                      "exit_loop", "periodic", "requires_consent", "needed");
}

// The period over which calls are counted: one session, one conversation (over all of the agent's
// sessions), or for ever.
enum class Per : std::uint8_t { session, conversation, persistent };
constexpr auto words_of(Per) {
    return word_table("session", "conversation", "persistent");
}

// If several rules refuse a call, the one with the highest priority is reported. This is the
// priority of a rule that states none.
std::int64_t default_priority(RuleType type);
// Returns true if the type may be used with tool = "*" (each tool on its own); the others name one tool.
bool may_be_for_every_tool(RuleType type);
// Returns true if the type counts calls over time, so that `per` applies.
bool has_per(RuleType type);
// Returns true if the type's value is a list of other tools.
bool lists_tools(RuleType type);

// One rule. Members that its type does not use are empty.
struct ToolRule {
    std::string tool = {};  // "*" for every tool.
    RuleType type = RuleType::needed;
    std::vector<std::string> operations = {};           // allowed_operations
    std::vector<std::string> tools = {};                // For the types of lists_tools().
    std::vector<std::vector<std::string>> groups = {};  // exclusive_groups
    std::int64_t number = 0;  // max_calls: the limit; cooldown, periodic: milliseconds.
    std::string scope = {};   // requires_consent: the subject of the consent; "" means the tool.
    std::int64_t priority = 0;
    Per per = Per::session;
    Map metadata = {};  // The operator's own notes; shown, never acted on.
    // Its place in quire.toml, for messages; 0 if it comes from elsewhere.
    std::size_t line = 0;
    std::size_t tool_line = 0;
    std::size_t value_line = 0;

    bool for_every_tool() const { return tool == "*"; }
};

// The rule as an object: {tool, type, value?, priority, per?, metadata?, line?}.
Map as_value(const ToolRule& rule);
// A key that is equal for two rules only if both demand the same of the same tool. Line, priority,
// metadata and the order within lists do not matter.
std::string demand_of(const ToolRule& rule);

// The rule as exactly one sentence, for a model's prompt.
std::string in_words(const ToolRule& rule);
// The rule's name in a message: "max_calls for `file` (quire.toml line 12)".
std::string named(const ToolRule& rule);

}  // namespace quire::policy
