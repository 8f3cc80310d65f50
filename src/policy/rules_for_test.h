// Rules written short, for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "policy/rule_set.h"
#include "policy/tool_catalog.h"
#include "policy/tool_rule.h"

namespace quire::policy {

// Tools with and without operations, and one that this version does not have.
inline ToolCatalog tools_for_test() {
    return ToolCatalog({{"file", {"list", "read", "edit", "save"}},
                        {"context", {"view", "append"}},
                        {"shell", {"execute"}, false},
                        {"block_read"},
                        {"block_edit"},
                        {"search"}});
}

inline ToolRule rule(RuleType type, std::string tool) {
    ToolRule out;
    out.type = type;
    out.tool = std::move(tool);
    out.priority = default_priority(type);
    return out;
}
inline ToolRule rule(RuleType type, std::string tool, std::int64_t number, Per per = Per::session) {
    ToolRule out = rule(type, std::move(tool));
    out.number = number;
    out.per = per;
    return out;
}
// A rule with the list that its type takes: operations or tools.
inline ToolRule rule(RuleType type, std::string tool, std::vector<std::string> words) {
    ToolRule out = rule(type, std::move(tool));
    (type == RuleType::allowed_operations ? out.operations : out.tools) = std::move(words);
    return out;
}
inline ToolRule groups(std::string tool, std::vector<std::vector<std::string>> of) {
    ToolRule out = rule(RuleType::exclusive_groups, std::move(tool));
    out.groups = std::move(of);
    return out;
}

// Their lines are 1, 2, …, the common ones first.
inline std::shared_ptr<const RuleSet> rule_set(std::vector<ToolRule> common,
                                               std::vector<ToolRule> own = {},
                                               ToolCatalog catalog = tools_for_test()) {
    std::size_t line = 0;
    for (ToolRule& each : common) each.line = ++line;
    for (ToolRule& each : own) each.line = ++line;
    return std::make_shared<const RuleSet>(std::make_shared<const ToolCatalog>(std::move(catalog)),
                                           std::move(common), std::move(own));
}

}  // namespace quire::policy
