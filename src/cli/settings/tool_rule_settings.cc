// Reads rules for tools. A rule's type says what its `value` is and whether it takes `conditions`
// and `per`; whether the tools exist and the rules can be met is checked later (tool_rules.h).
//
//  type                                             value                  conditions
//  allowed_operations                               list of operations     -
//  max_calls, cooldown, periodic                    whole number           -
//  exclusive_groups                                 list of lists of tools -
//  requires_consent                                 scope, may be absent   -
//  types of policy::lists_tools()                   list of tools, in one of the two
//  all others                                       -                      -
//
// A rule keeps the lines of its table, its tool and its value, since each can be at fault later.
#include "cli/settings/tool_rule_settings.h"

#include <optional>
#include <string>

#include "base/enum_words.h"
#include "cli/settings/toml_section.h"

namespace quire::cli {
namespace {

using policy::RuleType;
using policy::ToolRule;

// The members of a rule that every type reads alike.
struct ToolRuleMembers {
    std::string tool;
    std::string type;
    std::optional<std::int64_t> priority = {};
    std::optional<policy::Per> per = {};
    static json::Fields<ToolRuleMembers> fields() {
        return json::Fields<ToolRuleMembers>()
            .required("tool", &ToolRuleMembers::tool, "\"file\"")
            .required("type", &ToolRuleMembers::type, "\"max_calls\"")
            .optional("priority", &ToolRuleMembers::priority, "",
                      {{"minimum", -1000}, {"maximum", 1000}})
            .optional("per", &ToolRuleMembers::per);
    }
};

std::string types_for_every_tool() {
    std::string out;
    for (const RuleType type : kEvery<RuleType>) {
        if (policy::may_be_for_every_tool(type))
            cat_to(out, cat(out.empty() ? "" : ", ", name_of(type)));
    }
    return out;
}

// The strings of a list that is not empty. `hint` says what would be right.
Result<std::vector<std::string>> read_words(const Section& section, const toml::node& at,
                                            std::string_view hint) {
    const toml::array* array = at.as_array();
    if (array == nullptr || array->empty()) return section.wrong(at, hint);
    std::vector<std::string> words;
    for (const toml::node& each : *array) {
        if (!each.is_string()) return section.wrong(each, hint);
        words.push_back(each.as_string()->get());
    }
    return words;
}

Result<std::vector<std::string>> read_tools(const Section& section, const toml::node& at,
                                            std::string_view what) {
    return read_words(section, at, cat(what, " is a list of tools, such as [\"file\"]"));
}

// The tools that the rule lists, in its value or in its conditions.
Result<void> read_listed_tools(const Section& section, const toml::node* value,
                               const toml::node* conditions, ToolRule& rule) {
    const std::string_view type = name_of(rule.type);
    if (value != nullptr && conditions != nullptr) {
        return section.wrong(*conditions,
                             cat(type, " takes its tools as value or as conditions, not as both"));
    }
    if (value == nullptr && conditions == nullptr)
        return section.wrong(cat(type, " needs a list of tools, as value or as conditions"));
    rule.tools = value != nullptr ? TRY(read_tools(section, *value, cat("the value of ", type)))
                                  : TRY(read_tools(section, *conditions, "conditions"));
    rule.value_line = line_of(value != nullptr ? *value : *conditions);
    return {};
}

Result<void> read_groups(const Section& section, const toml::node& at, ToolRule& rule) {
    const toml::array* array = at.as_array();
    if (array == nullptr || array->empty())
        return section.wrong(at, "the value of exclusive_groups is a list of lists of tools");
    for (const toml::node& group : *array)
        rule.groups.push_back(TRY(read_tools(section, group, "a group")));
    return {};
}

Result<void> read_number(const Section& section, const toml::node& at, ToolRule& rule) {
    if (!at.is_integer() || at.as_integer()->get() < 0) {
        const bool is_count = rule.type == RuleType::max_calls;
        return section.wrong(at, cat("the value of ", name_of(rule.type), " is a whole number",
                                     is_count ? "" : " of milliseconds", ", not negative"));
    }
    rule.number = at.as_integer()->get();
    return {};
}

Result<void> read_scope(const Section& section, const toml::node& at, ToolRule& rule) {
    if (!at.is_string())
        return section.wrong(at, "the value of requires_consent is its scope, a string");
    rule.scope = at.as_string()->get();
    return {};
}

// `at` is null where the rule has no value.
Result<void> read_value(const Section& section, const toml::node* at, ToolRule& rule) {
    const std::string_view type = name_of(rule.type);
    if (at != nullptr) rule.value_line = line_of(*at);
    const auto needed = [&] { return section.wrong(cat(type, " needs a value")); };
    switch (rule.type) {
        case RuleType::requires_consent:
            return at == nullptr ? Result<void>() : read_scope(section, *at, rule);
        case RuleType::max_calls:
        case RuleType::cooldown:
        case RuleType::periodic:
            return at == nullptr ? needed() : read_number(section, *at, rule);
        case RuleType::exclusive_groups:
            return at == nullptr ? needed() : read_groups(section, *at, rule);
        case RuleType::allowed_operations:
            if (at == nullptr) return needed();
            rule.operations = TRY(read_words(
                section, *at, "the value of allowed_operations is a list, such as [\"read\"]"));
            return {};
        case RuleType::requires_preceding_tools:
        case RuleType::requires_following_tools:
        case RuleType::start_constraint:
        case RuleType::required_before_exit:
        case RuleType::required_before_exit_if:
        case RuleType::continue_loop:
        case RuleType::exit_loop:
        case RuleType::needed:
            if (at != nullptr) return section.wrong(*at, cat(type, " takes no value"));
            break;
    }
    return {};
}

Result<ToolRule> read_tool_rule(Section& section) {
    ToolRuleMembers members = TRY(section.fields<ToolRuleMembers>());
    ToolRule rule;
    rule.line = section.line();
    rule.tool = std::move(members.tool);
    rule.tool_line = line_of(*section.node("tool"));
    const auto type = enum_named<RuleType>(members.type);
    if (!type) {
        return section.wrong(*section.node("type"),
                             cat("unknown rule type '", members.type,
                                 "', expected one of: ", listed_words<RuleType>()));
    }
    rule.type = *type;
    // "*" with allowed_operations passes here; policy says more about it when rules are compiled.
    if (rule.for_every_tool() && !policy::may_be_for_every_tool(rule.type) &&
        rule.type != RuleType::allowed_operations) {
        return section.wrong(
            *section.node("tool"),
            cat(members.type, " is for one tool; \"*\" is for ", types_for_every_tool()));
    }
    rule.priority = members.priority.value_or(policy::default_priority(rule.type));
    if (members.per && !policy::has_per(rule.type)) {
        return section.wrong(*section.node("per"),
                             cat(members.type,
                                 " counts nothing, so it takes no per; max_calls, cooldown, "
                                 "exclusive_groups and requires_preceding_tools do"));
    }
    rule.per = members.per.value_or(rule.per);
    if (const toml::node* metadata = section.node("metadata")) {
        if (!metadata->is_table()) return section.wrong(*metadata, "metadata is a table");
        rule.metadata = value_of(*metadata).as_map();
    }
    // Both are asked for whatever the type is, so that a wrong one gets the message about the type
    // and not "unknown key".
    const toml::node* value = section.node("value");
    const toml::node* conditions = section.node("conditions");
    if (policy::lists_tools(rule.type)) {
        TRY(read_listed_tools(section, value, conditions, rule));
        return rule;
    }
    if (conditions != nullptr) {
        return section.wrong(*conditions,
                             cat(members.type,
                                 " takes no conditions; requires_preceding_tools, "
                                 "requires_following_tools and required_before_exit_if do"));
    }
    TRY(read_value(section, value, rule));
    return rule;
}

}  // namespace

Result<std::vector<policy::ToolRule>> read_tool_rules(Section& section) {
    std::vector<ToolRule> rules;
    const auto take_rule = [&](Section& rule) -> Result<void> {
        rules.push_back(TRY(read_tool_rule(rule)));
        return {};
    };
    TRY(section.tables("rules", take_rule));
    return rules;
}

}  // namespace quire::cli
