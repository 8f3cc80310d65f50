// One table row per type gives a rule its name, its default priority and the members that it takes;
// the two switches over the type write it as a value and as a sentence. The sentences are the only
// part of a rule that a model reads, so they say what to do, not how the check works.

#include "policy/tool_rule.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/concat.h"

namespace quire::policy {
namespace {

// The properties that all rules of one type share.
struct Traits {
    std::int64_t priority;
    bool every_tool;
    bool per;
    bool tools;
};

// In the order of RuleType.
constexpr std::array<Traits, std::size(kEvery<RuleType>)> kTraits = {{
    {5, false, false, false},
    {5, true, true, false},
    {4, true, true, false},
    {7, true, true, true},
    {7, true, false, true},
    {6, true, true, false},
    {10, false, false, false},
    {9, false, false, false},
    {9, false, false, true},
    {1, true, false, false},
    {8, true, false, false},
    {3, false, false, false},
    {4, true, false, false},
    {2, false, false, false},
}};

const Traits& traits_of(RuleType type) {
    return kTraits[static_cast<std::size_t>(type)];
}

List as_list(const std::vector<std::string>& words) {
    return {words.begin(), words.end()};
}

// The rule's value in the form in which quire.toml states it.
Value value_of(const ToolRule& rule) {
    switch (rule.type) {
        case RuleType::allowed_operations:
            return as_list(rule.operations);
        case RuleType::max_calls:
        case RuleType::cooldown:
        case RuleType::periodic:
            return rule.number;
        case RuleType::requires_preceding_tools:
        case RuleType::requires_following_tools:
        case RuleType::required_before_exit_if:
            return as_list(rule.tools);
        case RuleType::exclusive_groups: {
            List groups;
            for (const auto& group : rule.groups) groups.emplace_back(as_list(group));
            return groups;
        }
        case RuleType::requires_consent:
            return rule.scope.empty() ? Value() : Value(rule.scope);
        case RuleType::start_constraint:
        case RuleType::required_before_exit:
        case RuleType::continue_loop:
        case RuleType::exit_loop:
        case RuleType::needed:
            break;
    }
    return {};
}

std::set<std::string> as_set(const std::vector<std::string>& words) {
    return {words.begin(), words.end()};
}

// Neither the order of groups nor that within a group matters.
std::set<std::set<std::string>> as_sets(const std::vector<std::vector<std::string>>& groups) {
    std::set<std::set<std::string>> out;
    for (const auto& group : groups) out.insert(as_set(group));
    return out;
}

std::string listed(const std::vector<std::string>& words, std::string_view quote) {
    std::string out;
    for (const std::string& word : words)
        cat_to(out, cat(out.empty() ? "" : ", ", quote, word, quote));
    return out;
}

std::string tools_of(const ToolRule& rule) {
    return listed(rule.tools, "`");
}

std::string groups_of(const ToolRule& rule) {
    std::string out;
    for (const auto& group : rule.groups)
        cat_to(out, cat(out.empty() ? "" : ", ", "[", listed(group, "`"), "]"));
    return out;
}

std::string_view within(Per per) {
    switch (per) {
        case Per::session:
            return " per session";
        case Per::conversation:
            return " per conversation";
        case Per::persistent:
            return " ever";
    }
    return "";
}

// A period is named only if it is not the default one.
std::string_view within_unless_usual(Per per) {
    return per == Per::session ? "" : within(per);
}

// A limit of 0 is a ban and reads as one.
std::string calls_in_words(const ToolRule& rule, const std::string& tool) {
    if (rule.number == 0) return cat("Do not call ", tool, ".");
    return cat("Call ", tool, " at most ", rule.number, rule.number == 1 ? " time" : " times",
               within(rule.per), ".");
}

std::string sorted_operations(const ToolRule& rule) {
    const std::set<std::string> sorted = as_set(rule.operations);
    return listed({sorted.begin(), sorted.end()}, "");
}

}  // namespace

std::int64_t default_priority(RuleType type) {
    return traits_of(type).priority;
}

bool may_be_for_every_tool(RuleType type) {
    return traits_of(type).every_tool;
}

bool has_per(RuleType type) {
    return traits_of(type).per;
}

bool lists_tools(RuleType type) {
    return traits_of(type).tools;
}

Map as_value(const ToolRule& rule) {
    Map out = {{"tool", rule.tool}, {"type", name_of(rule.type)}};
    if (Value value = value_of(rule); !value.is_null()) out.append("value", std::move(value));
    out.append("priority", rule.priority);
    if (has_per(rule.type)) out.append("per", name_of(rule.per));
    if (!rule.metadata.empty()) out.append("metadata", rule.metadata);
    if (rule.line != 0) out.append("line", rule.line);
    return out;
}

// Lists are sorted, so their order does not matter.
std::string demand_of(const ToolRule& rule) {
    std::string out = cat(name_of(rule.type), " ", rule.tool, " ", rule.number, " ",
                          name_of(rule.per), " ", rule.scope, ";");
    const auto add = [&](const std::vector<std::string>& words) {
        for (const std::string& word : as_set(words)) cat_to(out, cat(" ", word));
        cat_to(out, ";");
    };
    add(rule.operations);
    add(rule.tools);
    for (const auto& group : as_sets(rule.groups)) add({group.begin(), group.end()});
    return out;
}

// The sentences address the model, which reads them in its prompt.
std::string in_words(const ToolRule& rule) {
    const std::string tool = rule.for_every_tool() ? "any one tool" : cat("`", rule.tool, "`");
    switch (rule.type) {
        case RuleType::allowed_operations:
            return cat("Available operations for ", tool, ": ", sorted_operations(rule), ".");
        case RuleType::max_calls:
            return calls_in_words(rule, tool);
        case RuleType::cooldown:
            return cat("Wait at least ", rule.number, " ms between two calls of ", tool,
                       within_unless_usual(rule.per), ".");
        case RuleType::requires_preceding_tools:
            return cat("Before ", rule.for_every_tool() ? "any other tool" : tool,
                       ", these must have succeeded: ", tools_of(rule),
                       within_unless_usual(rule.per), ".");
        case RuleType::requires_following_tools:
            return cat("After ", tool,
                       " has succeeded, call these before you end: ", tools_of(rule), ".");
        case RuleType::exclusive_groups:
            return cat("Call at most one tool of each of these groups", within(rule.per), ": ",
                       groups_of(rule), ".");
        case RuleType::start_constraint:
            return cat("Begin with ", tool,
                       ": until it has succeeded, no other tool may be called.");
        case RuleType::required_before_exit:
            return cat("Call ", tool, " before you end.");
        case RuleType::required_before_exit_if:
            return cat("Call ", tool,
                       " before you end if any of these has succeeded: ", tools_of(rule), ".");
        case RuleType::continue_loop:
            return cat("Continue your work after ", tool, ".");
        case RuleType::exit_loop:
            return cat("Your work ends once ", tool, " has succeeded.");
        case RuleType::periodic:
            return cat("Call ", tool, " every ", rule.number, " ms while you work.");
        case RuleType::requires_consent:
            return cat("A person must agree before ", tool, " is called",
                       rule.scope.empty() ? "" : cat(" (scope: ", rule.scope, ")"), ".");
        case RuleType::needed:
            return cat("You will need ", tool, " for this work.");
    }
    return {};
}

std::string named(const ToolRule& rule) {
    return cat(name_of(rule.type), " for ",
               rule.for_every_tool() ? "every tool" : cat("`", rule.tool, "`"),
               rule.line == 0 ? "" : cat(" (quire.toml line ", rule.line, ")"));
}

}  // namespace quire::policy
