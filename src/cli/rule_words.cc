#include "cli/rule_words.h"

#include <string_view>

#include "base/cat.h"
#include "base/check.h"
#include "json/json.h"

namespace quire::cli {
namespace {

std::string listed(const List& words) {
    std::string out;
    for (const Value& word : words)
        cat_to(out, cat(out.empty() ? "" : ", ", word.is_string() ? word.as_string() : ""));
    return out;
}

// The tools that a rule speaks of, given as its value or as its conditions.
std::string others(const ToolRule& rule) {
    if (rule.value.is_list()) return listed(rule.value.as_list());
    return listed({rule.conditions.begin(), rule.conditions.end()});
}

std::string groups(const ToolRule& rule) {
    std::string out;
    for (const Value& group : rule.value.as_list())
        cat_to(out, cat(out.empty() ? "" : ", ", "[", listed(group.as_list()), "]"));
    return out;
}

std::string scope(const ToolRule& rule) {
    return rule.value.is_string() ? cat(" (scope: ", rule.value.as_string(), ")") : "";
}

}  // namespace

std::string in_words(const ToolRule& rule) {
    const std::string_view type = rule.type;
    const std::string tool = rule.tool == "*" ? "any tool" : cat("`", rule.tool, "`");
    const std::string value = json::write(rule.value);
    if (type == "allowed_operations")
        return cat("Of ", tool, " use these operations alone: ", others(rule), ".");
    if (type == "max_calls") return cat("Call ", tool, " at most ", value, " times in a session.");
    if (type == "cooldown")
        return cat("Wait at least ", value, " ms between two calls of ", tool, ".");
    if (type == "requires_preceding_tools")
        return cat("Call ", tool, " only after: ", others(rule), ".");
    if (type == "requires_following_tools")
        return cat("Once you have called ", tool, ", call: ", others(rule), ".");
    if (type == "exclusive_groups")
        return cat("With ", tool, ", call one tool alone of each group: ", groups(rule), ".");
    if (type == "start_constraint") return cat("Call ", tool, " before all others.");
    if (type == "required_before_exit") return cat("Call ", tool, " before you end.");
    if (type == "required_before_exit_if")
        return cat("Call ", tool, " before you end if you have called: ", others(rule), ".");
    if (type == "continue_loop") return cat("Go on after you have called ", tool, ".");
    if (type == "exit_loop") return cat("Calling ", tool, " ends your work.");
    if (type == "periodic") return cat("Call ", tool, " every ", value, " ms while you work.");
    if (type == "requires_consent")
        return cat("A person must consent before you call ", tool, scope(rule), ".");
    CHECK(type == "needed");
    return cat("You will need ", tool, ".");
}

}  // namespace quire::cli
