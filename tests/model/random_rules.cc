#include "tests/model/random_rules.h"

#include <algorithm>

namespace quire::rules_model {

using policy::RuleType;
using policy::ToolRule;

policy::ToolCatalog few_tools() {
    // One operation of `b` is a later version's, and so is `f`.
    return policy::ToolCatalog({{"a", {"read", "write", "erase"}},
                                {.name = "b", .operations = {"view", "set"}, .later = {"set"}},
                                {"c"},
                                {"d"},
                                {"e"},
                                {"f", {}, false}});
}

namespace {

RuleType random_type(crdt::Tape& tape, RuleWishes wishes) {
    constexpr RuleType kDemanding[] = {
        RuleType::exit_loop,         RuleType::requires_preceding_tools,
        RuleType::exclusive_groups,  RuleType::requires_following_tools,
        RuleType::start_constraint,  RuleType::required_before_exit,
        RuleType::max_calls,         RuleType::required_before_exit_if,
        RuleType::exit_loop,         RuleType::requires_preceding_tools,
        RuleType::allowed_operations};
    if (wishes.gating && tape.pick(2) == 0) return RuleType::allowed_operations;
    if (wishes.demanding) return kDemanding[tape.pick(std::size(kDemanding))];
    return kEvery<policy::RuleType>[tape.pick(std::size(kEvery<policy::RuleType>))];
}

std::vector<std::string> some_of(crdt::Tape& tape, const std::vector<std::string>& words,
                                 std::size_t least, std::size_t most) {
    std::vector<std::string> out;
    const std::size_t count = least + tape.pick(most - least + 1);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string& word = words[tape.pick(words.size())];
        if (std::find(out.begin(), out.end(), word) == out.end()) out.push_back(word);
    }
    return out;
}

ToolRule random_rule(crdt::Tape& tape, RuleWishes wishes) {
    const policy::ToolCatalog catalog = few_tools();
    std::vector<std::string> names;
    for (const policy::KnownTool& tool : catalog.tools()) names.push_back(tool.name);
    ToolRule rule;
    rule.type = random_type(tape, wishes);
    rule.tool = names[tape.pick(names.size())];
    if (may_be_for_every_tool(rule.type) && tape.pick(4) == 0) rule.tool = "*";
    rule.priority = default_priority(rule.type);
    if (tape.pick(5) == 0) rule.priority = static_cast<std::int64_t>(tape.pick(13));
    if (has_per(rule.type) && !wishes.sessions_alone && tape.pick(3) == 0)
        rule.per = kEvery<policy::Per>[tape.pick(std::size(kEvery<policy::Per>))];
    if (lists_tools(rule.type)) rule.tools = some_of(tape, names, 1, 2);
    if (rule.type == RuleType::allowed_operations) {
        rule.tool = names[tape.pick(2)];
        rule.operations = some_of(tape, catalog.find(rule.tool)->operations, 1, 2);
    } else if (rule.type == RuleType::max_calls) {
        rule.number = static_cast<std::int64_t>(tape.pick(4));
    } else if (rule.type == RuleType::cooldown || rule.type == RuleType::periodic) {
        rule.number = std::vector<std::int64_t>{0, 3, 10, 60}[tape.pick(4)];
    } else if (rule.type == RuleType::exclusive_groups) {
        for (std::size_t i = 1 + tape.pick(2); i > 0; --i)
            rule.groups.push_back(some_of(tape, names, 2, 3));
        if (rule.tool != "*") rule.groups.front().push_back(rule.tool);
    } else if (rule.type == RuleType::requires_consent && tape.pick(2) == 0) {
        rule.scope = "somewhere";
    }
    return rule;
}

}  // namespace

RandomRules random_rules(crdt::Tape& tape, std::vector<crdt::Draws>& parts, RuleWishes wishes) {
    RandomRules out;
    std::size_t line = 0;
    for (crdt::Draws& part : parts) {
        tape.turn_to(part);
        const bool is_own = tape.pick(4) == 3;
        ToolRule rule = random_rule(tape, wishes);
        rule.line = ++line;
        (is_own ? out.own : out.common).push_back(std::move(rule));
    }
    return out;
}

}  // namespace quire::rules_model
