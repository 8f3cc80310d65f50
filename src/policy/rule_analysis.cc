// Each find_…() asks the graph of demands (rule_graph.h) one question about the whole set and turns
// every answer into a finding. Findings with the same kind and rules are merged, so a mistake in a
// rule for "*" is one message and not one per tool. The searches for rules without effect need no
// graph: they compare rules with each other, tool by tool.

#include "policy/rule_analysis.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/concat.h"
#include "policy/rule_graph.h"

namespace quire::policy {
namespace {

using FindingKind = RuleFinding::Kind;
using Reach = RuleGraph::Reach;

// One pass over one compiled set of rules, for agents of one profile or of any.
class Analysis {
public:
    Analysis(const RuleSet& rules, std::string_view profile)
        : rules_(rules), graph_(rules, profile) {}

    // Warnings need the errors first: a problem that is an error is not repeated as a warning.
    std::vector<RuleFinding> run() {
        find_errors();
        find_one_loop();
        find_never_called();
        find_without_effect();
        find_not_built();
        find_later_operations();
        return sorted();
    }

    std::vector<RuleFinding> errors() {
        find_errors();
        std::erase_if(found_, [](const RuleFinding& each) { return !each.is_error(); });
        return sorted();
    }

private:
    void find_errors() {
        find_contradictions();
        find_cycles();
        find_ends();
        find_dead_ends();
        find_beginnings();
        find_waits_in_vain();
    }

    // Adds the merged tools to each message and puts the errors first.
    std::vector<RuleFinding> sorted() {
        for (RuleFinding& each : found_) {
            std::string names;
            for (std::size_t i = 0; i < each.also.size() && i < kNamed; ++i)
                cat_to(names, cat(i == 0 ? "" : ", ", "`", each.also[i], "`"));
            if (each.also.size() > kNamed)
                cat_to(names, cat(" and ", each.also.size() - kNamed, " more"));
            if (!names.empty()) cat_to(each.message, cat("; the same is true of ", names));
        }
        std::ranges::stable_sort(
            found_, [](const auto& a, const auto& b) { return a.is_error() && !b.is_error(); });
        return std::move(found_);
    }

    // The most tools, and the most rules, that one message names: every problem fits in a line.
    static constexpr std::size_t kNamed = 3;
    static constexpr std::size_t kNamedRules = 8;

    const std::string& name(std::size_t tool) const { return rules_.catalog().tools()[tool].name; }

    // Adds a finding, or adds the tool to an equal one with the same rules.
    void add(FindingKind kind, std::string tool, std::vector<std::size_t> rules,
             std::string_view what) {
        std::ranges::sort(rules);
        const auto [first, is_new] = places_.try_emplace({kind, rules}, found_.size());
        if (!is_new && !tool.empty()) {
            found_[first->second].also.push_back(std::move(tool));
            return;
        }
        std::string names;
        for (std::size_t i = 0; i < rules.size() && i < kNamedRules; ++i)
            cat_to(names, cat(i == 0 ? "" : "; ", named(rules_.rule(rules[i]))));
        if (rules.size() > kNamedRules)
            cat_to(names, cat("; and ", rules.size() - kNamedRules, " more"));
        found_.push_back({kind, std::move(tool), {}, std::move(rules), cat(what, ": ", names)});
    }

    // A tool cannot both end the loop and continue it.
    void find_contradictions() {
        for (std::size_t tool = 0; tool < rules_.catalog().size(); ++tool) {
            if (!rules_.ends_loop(tool) || !rules_.continues_loop(tool)) continue;
            std::vector<std::size_t> both;
            for (std::size_t i = 0; i < rules_.rules().size(); ++i) {
                const RuleType type = rules_.rule(i).type;
                const bool about = type == RuleType::exit_loop || type == RuleType::continue_loop;
                if (about && rules_.applies(i, tool)) both.push_back(i);
            }
            add(FindingKind::ends_and_continues, name(tool), both,
                cat("after `", name(tool),
                    "` the work would both end and go on; remove one of the rules"));
        }
    }

    // Cycles and exclusions are found by the graph; here they only get a kind.
    void find_cycles() {
        for (const Conflict& each : graph_.cycles())
            add(FindingKind::cycle, first_quoted(each.why), each.rules, each.why);
        for (const Conflict& each : graph_.exclusions())
            add(FindingKind::excluded, first_quoted(each.why), each.rules, each.why);
    }

    // The tool a conflict is about is the first one its clause quotes.
    static std::string first_quoted(const std::string& why) {
        const std::size_t begin = why.find('`') + 1;
        return why.substr(begin, why.find('`', begin) - begin);
    }

    // The conflict of the first exit if no loop can end with `also` having succeeded in it.
    std::optional<Conflict> no_end(std::optional<std::size_t> also, Reach reach) const {
        if (graph_.exits().empty()) return graph_.unmet(std::nullopt, also, reach);
        std::optional<Conflict> first;
        for (const std::size_t exit : graph_.exits()) {
            auto conflict = graph_.unmet(exit, also, reach);
            if (!conflict) return std::nullopt;
            if (!first) first = std::move(conflict);
        }
        return first;
    }

    // No end at all is an error; an end that needs another session or conversation is a warning.
    void find_ends() {
        if (const auto conflict = no_end(std::nullopt, Reach::session)) {
            never_ends_ = true;
            add(FindingKind::never_ends, "", conflict->rules,
                cat("the work can never end, because ", conflict->why));
            return;
        }
        if (const auto conflict = no_end(std::nullopt, Reach::fresh)) {
            add(FindingKind::never_ends_alone, "", conflict->rules,
                cat("within one session and one conversation the work cannot end, because ",
                    conflict->why));
        }
    }

    // A tool after whose success no exit can be reached, although the loop could end without it.
    void find_dead_ends() {
        for (std::size_t tool = 0; !never_ends_ && tool < rules_.catalog().size(); ++tool) {
            if (graph_.never(tool)) continue;
            if (rules_.ends_loop(tool)) {
                // The tool cannot end a loop, so it is never admitted.
                if (const auto conflict = graph_.unmet(tool, std::nullopt, Reach::any)) {
                    add(FindingKind::never_called, name(tool), conflict->rules,
                        cat("`", name(tool), "` can never end the work, because ", conflict->why));
                }
            } else if (const auto conflict = no_end(tool, Reach::any)) {
                add(FindingKind::dead_end, name(tool), conflict->rules,
                    cat("once `", name(tool), "` has succeeded the work can never end, because ",
                        conflict->why));
            }
        }
    }

    // A start_constraint on a tool that can never be called blocks everything.
    void find_beginnings() {
        for (const std::uint32_t rule : rules_.start_rules()) {
            const std::size_t tool = rules_.tool_of(rule);
            const auto& conflict = graph_.never(tool);
            if (!conflict) continue;
            std::vector<std::size_t> rules = conflict->rules;
            if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
            add(FindingKind::cannot_begin, name(tool), std::move(rules),
                cat("the work must begin with `", name(tool),
                    "`, which can never be called: ", conflict->why));
        }
    }

    // Finds prerequisites that agents lack although no rule forbids them.
    void find_waits_in_vain() {
        for (std::size_t i = 0; i < rules_.rules().size(); ++i) {
            if (rules_.rule(i).type != RuleType::requires_preceding_tools) continue;
            std::optional<std::size_t> waiting;
            for (std::size_t tool = 0; !waiting && tool < rules_.catalog().size(); ++tool) {
                if (rules_.applies(i, tool) && !graph_.is_absent(tool)) waiting = tool;
            }
            for (const std::size_t tool : rules_.listed_tools(i)) {
                if (!waiting || !graph_.is_absent(tool)) continue;
                std::vector<std::size_t> rules = graph_.never(tool)->rules;
                if (std::ranges::find(rules, i) == rules.end()) rules.push_back(i);
                const std::string who = rules_.rule(i).for_every_tool()
                                            ? std::string("every other tool")
                                            : cat("`", name(*waiting), "`");
                add(FindingKind::waits_in_vain, name(tool), std::move(rules),
                    cat(who, " waits for `", name(tool),
                        "`, which can never be called: ", graph_.never(tool)->why));
            }
        }
    }

    // Reported only if the loop can end at all.
    void find_one_loop() {
        if (never_ends_) return;
        if (const auto conflict = graph_.one_loop()) {
            add(FindingKind::one_loop, "", conflict->rules,
                cat("a session can do only its first loop, because ", conflict->why));
        }
    }

    // Runs once for each tool that a rule names, and lists the rules that are about it in vain.
    void find_never_called() {
        for (std::size_t tool = 0; tool < rules_.catalog().size(); ++tool) {
            const auto& conflict = graph_.never(tool);
            if (!conflict || graph_.is_absent(tool)) continue;
            std::vector<std::size_t> rules = conflict->rules;
            bool is_named = false;
            for (std::size_t i = 0; i < rules_.rules().size(); ++i) {
                if (rules_.rule(i).for_every_tool() || rules_.tool_of(i) != tool) continue;
                is_named = true;
                if (std::ranges::find(rules, i) == rules.end()) rules.push_back(i);
            }
            // A single rule says as much itself, and errors are already reported.
            if (!is_named || rules.size() < 2 || is_reported(rules)) continue;
            add(FindingKind::never_called, name(tool), std::move(rules),
                cat("`", name(tool), "` can never be called: ", conflict->why));
        }
    }

    // Returns true if an error already names all of these rules.
    bool is_reported(std::vector<std::size_t> rules) const {
        std::ranges::sort(rules);
        return std::ranges::any_of(found_, [&](const RuleFinding& each) {
            return each.is_error() &&
                   std::includes(each.rules.begin(), each.rules.end(), rules.begin(), rules.end());
        });
    }

    // --- rules without effect ---

    struct Bound {
        std::int64_t number;
        std::size_t rule;
    };

    // Counts for each limit on the tool whether the strictest of the others makes it idle.
    void bound(std::size_t tool, RuleType type, std::map<std::size_t, std::size_t>& idle) const {
        std::optional<Bound> best[std::size(kEvery<Per>)];
        std::vector<std::size_t> about;
        for (const std::size_t rule : by_type_[static_cast<std::size_t>(type)]) {
            if (!rules_.applies(rule, tool)) continue;
            about.push_back(rule);
            auto& held = best[static_cast<std::size_t>(rules_.rule(rule).per)];
            if (!held || strictness(rule) < held->number) held = Bound{strictness(rule), rule};
        }
        for (const std::size_t rule : about) {
            for (const Per per : {rules_.rule(rule).per, Per::persistent}) {
                const auto& held = best[static_cast<std::size_t>(per)];
                if (!held || held->rule == rule || holds_for_others(rule, held->rule)) continue;
                const bool wider = per != rules_.rule(rule).per;
                if (held->number < strictness(rule) ||
                    (held->number == strictness(rule) && (wider || held->rule < rule)))
                    ++idle[rule];
                if (idle.contains(rule)) break;
            }
        }
    }
    // A common rule that is weaker than an agent's own still holds for other agents.
    bool holds_for_others(std::size_t rule, std::size_t outdone_by) const {
        return rules_.rules()[rule].level == Level::common &&
               rules_.rules()[outdone_by].level == Level::own;
    }
    // A number by which a lower value is stricter.
    std::int64_t strictness(std::size_t rule) const {
        const ToolRule& what = rules_.rule(rule);
        return what.type == RuleType::cooldown ? -what.number : what.number;
    }

    // The searches share the set of rules that are already reported, so each rule is reported once.
    void find_without_effect() {
        for (std::size_t i = 0; i < rules_.rules().size(); ++i)
            by_type_[static_cast<std::size_t>(rules_.rule(i).type)].push_back(i);
        std::set<std::size_t> reported;
        find_replaced(reported);
        find_repeated(reported);
        find_bounded(reported);
        find_all_allowed(reported);
    }

    // Finds rules for "*" that others replace for every tool.
    void find_replaced(std::set<std::size_t>& reported) {
        for (std::size_t i = 0; i < rules_.rules().size(); ++i) {
            if (!rules_.rule(i).for_every_tool()) continue;
            bool any = false;
            for (std::size_t tool = 0; !any && tool < rules_.catalog().size(); ++tool)
                any = rules_.applies(i, tool);
            if (any) continue;
            reported.insert(i);
            add(FindingKind::without_effect, "*", {i},
                "a rule for \"*\" has no effect, because other rules name every tool that it could "
                "be about");
        }
    }

    // Finds rules that demand the same as an earlier one.
    void find_repeated(std::set<std::size_t>& reported) {
        std::map<std::string, std::size_t> seen;
        for (std::size_t i = 0; i < rules_.rules().size(); ++i) {
            const auto [first, is_new] = seen.try_emplace(demand_of(rules_.rule(i)), i);
            if (is_new || !reported.insert(i).second) continue;
            add(FindingKind::without_effect, rules_.rule(i).tool, {first->second, i},
                "two rules demand the same");
        }
    }

    // Finds limits that a stricter limit makes idle for all their tools.
    void find_bounded(std::set<std::size_t>& reported) {
        for (const RuleType type : {RuleType::max_calls, RuleType::cooldown}) {
            std::map<std::size_t, std::size_t> about;  // How many tools.
            std::map<std::size_t, std::size_t> idle;
            for (std::size_t tool = 0; tool < rules_.catalog().size(); ++tool) {
                std::map<std::size_t, std::size_t> here;
                bound(tool, type, here);
                for (const auto& [rule, count] : here) ++idle[rule];
            }
            for (const auto& [rule, count] : idle) {
                std::size_t all = 0;
                for (std::size_t tool = 0; tool < rules_.catalog().size(); ++tool)
                    all += rules_.applies(rule, tool) ? 1 : 0;
                if (count < all || !reported.insert(rule).second) continue;
                add(FindingKind::without_effect, rules_.rule(rule).tool, {rule},
                    "a rule has no effect beside a stricter one");
            }
        }
    }

    // Finds lists of allowed operations that are complete, or that another list narrows further.
    void find_all_allowed(std::set<std::size_t>& reported) {
        std::map<std::size_t, std::vector<std::pair<std::size_t, std::set<std::string>>>> by_tool;
        for (const std::size_t i :
             by_type_[static_cast<std::size_t>(RuleType::allowed_operations)]) {
            const auto& words = rules_.rule(i).operations;
            by_tool[rules_.tool_of(i)].emplace_back(
                i, std::set<std::string>(words.begin(), words.end()));
        }
        for (const auto& [tool, allowed] : by_tool) {
            const auto& declared = rules_.catalog().tools()[tool].operations;
            for (const auto& [rule, words] : allowed) {
                if (words.size() ==
                    std::set<std::string>(declared.begin(), declared.end()).size()) {
                    if (reported.insert(rule).second) {
                        add(FindingKind::without_effect, name(tool), {rule},
                            "a rule allows every operation of the tool, so it has no effect");
                    }
                    continue;
                }
                for (const auto& [other, fewer] : allowed) {
                    const bool narrower =
                        fewer.size() < words.size() &&
                        std::includes(words.begin(), words.end(), fewer.begin(), fewer.end());
                    if (!narrower || holds_for_others(rule, other) || !reported.insert(rule).second)
                        continue;
                    add(FindingKind::without_effect, name(tool), {rule, other},
                        "a rule has no effect, because another allows fewer operations");
                }
            }
        }
    }

    // Rules may name tools of a later version or of a mount that is not known yet; both are
    // warnings.
    void find_not_built() {
        for (std::size_t i = 0; i < rules_.rules().size(); ++i) {
            if (rules_.rule(i).for_every_tool()) continue;
            const std::size_t tool = rules_.tool_of(i);
            if (rules_.catalog().tools()[tool].mounted) {
                add(FindingKind::not_built, name(tool), {i},
                    cat("the tool `", name(tool),
                        "` cannot be checked: its mount has not listed its tools yet"));
                continue;
            }
            if (!graph_.is_absent(tool)) continue;
            // Rules that leave only missing operations are reported together, once.
            std::vector<std::size_t> rules = graph_.never(tool)->rules;
            if (rules.empty()) rules.push_back(i);
            if (std::ranges::find(rules, i) != rules.begin() || is_reported(rules)) continue;
            add(FindingKind::not_built, name(tool), std::move(rules), graph_.never(tool)->why);
        }
    }

    // Allowing an operation of a later version is no error, but nobody can call it yet. Rules that
    // leave nothing else were reported by find_not_built().
    void find_later_operations() {
        for (std::size_t i = 0; i < rules_.rules().size(); ++i) {
            const ToolRule& rule = rules_.rule(i);
            if (rule.for_every_tool() || graph_.is_absent(rules_.tool_of(i))) continue;
            const KnownTool& tool = rules_.catalog().tools()[rules_.tool_of(i)];
            std::string later;
            for (const std::string& word : rule.operations) {
                if (std::ranges::find(tool.later, word) != tool.later.end())
                    cat_to(later, cat(later.empty() ? "" : ", ", word));
            }
            if (later.empty()) continue;
            add(FindingKind::not_built, tool.name, {i},
                cat("`", tool.name,
                    "` of this version does not have all that a rule allows: ", later));
        }
    }

    const RuleSet& rules_;
    const RuleGraph graph_;
    std::vector<std::size_t> by_type_[std::size(kEvery<RuleType>)];
    std::vector<RuleFinding> found_;
    std::map<std::pair<FindingKind, std::vector<std::size_t>>, std::size_t>
        places_;  // The first of each in found_.
    bool never_ends_ = false;
};

}  // namespace

std::vector<RuleFinding> analyse(const RuleSet& rules) {
    return Analysis(rules, {}).run();
}

std::vector<RuleFinding> errors_in_profile(const RuleSet& rules, std::string_view profile) {
    return Analysis(rules, profile).errors();
}

}  // namespace quire::policy
