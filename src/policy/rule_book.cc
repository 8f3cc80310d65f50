#include "policy/rule_book.h"

#include <algorithm>
#include <utility>

#include "base/cat.h"

namespace quire::policy {
namespace {

// Checks what one rule names.
class Names {
public:
    Names(const ToolCatalog& catalog, const std::string& file) : catalog_(catalog), file_(file) {}

    Result<void> check(const ToolRule& rule) const {
        if (!rule.for_every_tool()) TRY(check_tool(rule.tool, rule.tool_line));
        for (const std::string& tool : rule.tools) TRY(check_tool(tool, rule.value_line));
        for (const auto& group : rule.groups) {
            for (const std::string& tool : group) TRY(check_tool(tool, rule.value_line));
        }
        if (rule.type == RuleType::allowed_operations) TRY(check_operations(rule));
        if (rule.type == RuleType::exclusive_groups) TRY(check_groups(rule));
        return {};
    }

private:
    Failure wrong(std::size_t line, std::string_view what) const {
        return invalid("invalid_config", cat(file_, ":", line, ": ", what),
                       {{"file", file_}, {"line", line}});
    }
    Result<void> check_tool(const std::string& tool, std::size_t line) const {
        if (catalog_.find(tool) != nullptr) return {};
        return wrong(line,
                     cat("unknown tool '", tool, "', expected one of: *, ", catalog_.names()));
    }
    Result<void> check_operations(const ToolRule& rule) const {
        const KnownTool* tool = catalog_.find(rule.tool);
        if (tool == nullptr || tool->operations.empty()) {
            return wrong(
                rule.value_line,
                cat("the tool '", rule.tool, "' declares no operations; allowed_operations is for ",
                    catalog_.names_with_operations()));
        }
        const auto& there = tool->operations;
        for (const std::string& word : rule.operations) {
            if (std::find(there.begin(), there.end(), word) != there.end()) continue;
            std::string listed;
            for (const std::string& each : there)
                cat_to(listed, cat(listed.empty() ? "" : ", ", each));
            return wrong(rule.value_line, cat("the tool '", rule.tool, "' has no operation '", word,
                                              "', expected: ", listed));
        }
        return {};
    }
    Result<void> check_groups(const ToolRule& rule) const {
        const bool in_one =
            std::any_of(rule.groups.begin(), rule.groups.end(), [&](const auto& group) {
                return std::find(group.begin(), group.end(), rule.tool) != group.end();
            });
        if (rule.for_every_tool() || in_one) return {};
        return wrong(rule.value_line, cat("no group of exclusive_groups for the tool '", rule.tool,
                                          "' has it; put it into one, or write tool = \"*\""));
    }

    const ToolCatalog& catalog_;
    const std::string& file_;
};

}  // namespace

Result<RuleBook> RuleBook::compile(ToolCatalog catalog, const WrittenRules& written) {
    RuleBook book;
    book.file_ = written.file;
    const Names names(catalog, written.file);
    for (const ToolRule& rule : written.common) TRY(names.check(rule));
    for (const auto& [agent, rules] : written.own) {
        for (const ToolRule& rule : rules) TRY(names.check(rule));
    }
    book.catalog_ = std::make_shared<const ToolCatalog>(std::move(catalog));
    book.common_ =
        std::make_shared<const RuleSet>(book.catalog_, written.common, std::vector<ToolRule>());
    book.look_at("", *book.common_);
    for (const auto& [agent, rules] : written.own) {
        if (rules.empty()) continue;
        auto made = std::make_shared<const RuleSet>(book.catalog_, written.common, rules);
        book.look_at(agent, *made);
        book.own_.emplace(agent, std::move(made));
    }
    std::stable_sort(book.findings_.begin(), book.findings_.end(),
                     [](const BookFinding& a, const BookFinding& b) {
                         return a.finding.is_error() && !b.finding.is_error();
                     });
    return book;
}

void RuleBook::look_at(const std::string& agent, const RuleSet& rules) {
    for (RuleFinding& finding : analyse(rules)) {
        BookFinding found;
        found.agent = agent;
        for (const std::size_t rule : finding.rules) found.lines.push_back(rules.rule(rule).line);
        std::sort(found.lines.begin(), found.lines.end());
        const bool is_told =
            std::any_of(findings_.begin(), findings_.end(), [&](const BookFinding& each) {
                return each.agent.empty() && each.finding.kind == finding.kind &&
                       each.finding.tool == finding.tool && each.lines == found.lines;
            });
        if (is_told) continue;
        found.text = cat(file_, ":", found.lines.empty() ? 1 : found.lines.front(), ": ",
                         agent.empty() ? "" : cat("for agent:", agent, ", "), finding.message);
        found.finding = std::move(finding);
        findings_.push_back(std::move(found));
    }
}

std::vector<std::shared_ptr<const RuleSet>> RuleBook::all() const {
    std::vector<std::shared_ptr<const RuleSet>> out = {common_};
    for (const auto& [agent, rules] : own_) out.push_back(rules);
    return out;
}

std::shared_ptr<const RuleSet> RuleBook::rules_for(std::string_view agent) const {
    const auto own = own_.find(agent);
    return own == own_.end() ? common_ : own->second;
}

Result<void> RuleBook::check() const {
    std::string message;
    List problems;
    std::size_t line = 0;
    for (const BookFinding& each : findings_) {
        if (!each.finding.is_error()) continue;
        if (message.empty() && !each.lines.empty()) line = each.lines.front();
        cat_to(message, cat(message.empty() ? "" : "\n", each.text));
        problems.emplace_back(each.text);
    }
    if (message.empty()) return {};
    return invalid("invalid_config", std::move(message),
                   {{"file", file_}, {"line", line}, {"problems", std::move(problems)}});
}

}  // namespace quire::policy
