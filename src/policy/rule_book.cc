// Compiling goes in three steps. Every name in a rule is checked against the catalog, so that later
// steps may index by tool. Then one RuleSet is built for the common rules and one for each agent
// with own rules. Last, each set is analysed (rule_analysis.h) for every profile its agents may
// have; equal findings are merged, so one mistake is reported once.

#include "policy/rule_book.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "text/escape_hidden.h"

namespace quire::policy {
namespace {

// Checks every name that one rule uses.
class Names {
public:
    Names(const ToolCatalog& catalog, const std::string& file) : catalog_(catalog), file_(file) {}

    Result<void> check(const ToolRule& rule) const {
        if (!rule.for_every_tool()) TRY(check_tool(rule, rule.tool, rule.tool_line, "*, "));
        for (const std::string& tool : rule.tools) TRY(check_tool(rule, tool, rule.value_line));
        for (const auto& group : rule.groups) {
            for (const std::string& tool : group) TRY(check_tool(rule, tool, rule.value_line));
        }
        // A rule is one line of the prompt, and people must see all of it.
        if (text::escape_hidden(rule.scope) != rule.scope) {
            return wrong(rule.value_line,
                         cat("the scope '", text::escape_hidden(rule.scope),
                             "' has invisible characters; write it as one line of plain text"));
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
    // A count per conversation needs a tool whose calls belong to conversations.
    Result<void> check_tool(const ToolRule& rule, const std::string& tool, std::size_t line,
                            std::string_view or_every = "") const {
        const KnownTool* const known = catalog_.find(tool);
        if (const auto twin = catalog_.twin(tool); known == nullptr && twin) {
            return wrong(line,
                         cat("'", tool, "' is the operation '", twin->operation, "' of the tool '",
                             twin->tool, "' under another name; write the rule for '", twin->tool,
                             "' and, where it lists operations, name '", twin->operation, "'"));
        }
        if (known == nullptr) {
            return wrong(line, cat("unknown tool '", tool, "', expected one of: ", or_every,
                                   catalog_.names()));
        }
        if (rule.per != Per::conversation || known->in_conversations) return {};
        return wrong(line,
                     cat(named(rule), " counts per conversation, but calls of the tool '", tool,
                         "' belong to none; write per = \"session\" or \"persistent\""));
    }
    // An unknown operation gets the list of known ones.
    Result<void> check_operations(const ToolRule& rule) const {
        const KnownTool* tool = catalog_.find(rule.tool);
        if (tool == nullptr || tool->operations.empty()) {
            return wrong(rule.value_line,
                         cat("the tool '", rule.tool,
                             "' declares no operations; allowed_operations works for ",
                             catalog_.names_with_operations()));
        }
        const auto& there = tool->operations;
        for (const std::string& word : rule.operations) {
            if (std::ranges::find(there, word) != there.end()) continue;
            std::string listed;
            for (const std::string& each : there)
                cat_to(listed, cat(listed.empty() ? "" : ", ", each));
            return wrong(rule.value_line, cat("the tool '", rule.tool, "' has no operation '", word,
                                              "', expected: ", listed));
        }
        return {};
    }
    // A rule for one tool must have the tool in one of its groups; otherwise it would do nothing.
    Result<void> check_groups(const ToolRule& rule) const {
        const bool in_one = std::ranges::any_of(rule.groups, [&](const auto& group) {
            return std::ranges::find(group, rule.tool) != group.end();
        });
        if (rule.for_every_tool() || in_one) return {};
        return wrong(rule.value_line, cat("no group of exclusive_groups for the tool '", rule.tool,
                                          "' contains it; add it to one, or write tool = \"*\""));
    }

    const ToolCatalog& catalog_;
    const std::string& file_;
};

}  // namespace

// Names first, then the sets, then their analysis; only a wrong name ends the compilation.
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
    book.look_at("", *book.common_, {});
    const auto profile_of = [&](const std::string& agent) -> std::string_view {
        const auto at = written.profiles.find(agent);
        return at == written.profiles.end() ? std::string_view() : at->second;
    };
    for (const auto& [agent, rules] : written.own) {
        if (rules.empty()) continue;
        auto made = std::make_shared<const RuleSet>(book.catalog_, written.common, rules);
        book.look_at(agent, *made, profile_of(agent));
        book.own_.emplace(agent, std::move(made));
    }
    for (const auto& [agent, profile] : written.profiles) {
        if (!book.own_.contains(agent)) book.look_at(agent, *book.common_, profile);
    }
    std::ranges::stable_sort(book.findings_, [](const BookFinding& a, const BookFinding& b) {
        return a.finding.is_error() && !b.finding.is_error();
    });
    return book;
}

// Looks for contradictions that do not depend on a profile, then for those that do.
void RuleBook::look_at(const std::string& agent, const RuleSet& rules, std::string_view profile) {
    bool good = true;
    for (RuleFinding& finding : analyse(rules)) {
        good = good && !finding.is_error();
        take(agent, rules, std::move(finding), "");
    }
    // An error without regard to profiles would only be repeated for each profile.
    if (good) look_at_profiles(agent, rules, profile);
}

// For an agent with a fixed profile only that one counts. Otherwise equal errors of several
// profiles become one warning.
void RuleBook::look_at_profiles(const std::string& agent, const RuleSet& rules,
                                std::string_view profile) {
    if (!profile.empty()) {
        for (RuleFinding& finding : errors_in_profile(rules, profile))
            take(agent, rules, std::move(finding), cat("in its profile ", profile, ", "));
        return;
    }
    struct Found {
        RuleFinding finding;
        std::string profiles;
    };
    std::vector<Found> all;
    for (const std::string& each : catalog_->profiles()) {
        for (RuleFinding& finding : errors_in_profile(rules, each)) {
            const auto same = std::ranges::find_if(
                all, [&](const Found& found) { return found.finding.message == finding.message; });
            if (same != all.end()) {
                cat_to(same->profiles, cat(", ", each));
            } else {
                all.push_back({std::move(finding), each});
            }
        }
    }
    for (Found& found : all) {
        found.finding.kind = RuleFinding::Kind::not_in_profile;
        take(agent, rules, std::move(found.finding), cat("in profile ", found.profiles, ", "));
    }
}

// Records a finding with its lines, unless the common rules have the same one.
void RuleBook::take(const std::string& agent, const RuleSet& rules, RuleFinding finding,
                    const std::string& where) {
    BookFinding found;
    found.agent = agent;
    for (const std::size_t rule : finding.rules) found.lines.push_back(rules.rule(rule).line);
    std::ranges::sort(found.lines);
    const bool is_reported = std::ranges::any_of(findings_, [&](const BookFinding& each) {
        return each.agent.empty() && each.finding.kind == finding.kind &&
               each.finding.tool == finding.tool && each.lines == found.lines;
    });
    if (is_reported) return;
    found.text = cat(file_, ":", found.lines.empty() ? 1 : found.lines.front(), ": ",
                     agent.empty() ? "" : cat("for agent:", agent, ", "), where, finding.message);
    found.finding = std::move(finding);
    findings_.push_back(std::move(found));
}

// The common rules come first; their order after that is by agent.
std::vector<std::shared_ptr<const RuleSet>> RuleBook::all() const {
    std::vector<std::shared_ptr<const RuleSet>> out = {common_};
    for (const auto& [agent, rules] : own_) out.push_back(rules);
    return out;
}

std::shared_ptr<const RuleSet> RuleBook::rules_for(std::string_view agent) const {
    const auto own = own_.find(agent);
    return own == own_.end() ? common_ : own->second;
}

// All errors in one message, a line each, so that they can be fixed at once.
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
