// Two views of the rules that change nothing: explain() tells what each rule makes of one call, and
// report() tells what a loop still owes before it may end.

#include <algorithm>

#include "base/concat.h"
#include "policy/rule_refusal.h"

namespace quire::policy {

using Kind = RuleCheck::Kind;
using Outcome = RuleLook::Outcome;

// The debts of a loop: unmet duties, start tools, and late periodic tools.
LoopReport RuleAutomaton::report() const {
    LoopReport out;
    const CountedFacts view = view_of({});
    out.loops_ended = loop_;
    out.running = running_;
    const auto duties = rules_->duties();
    for (const RuleCheck& duty : duties) {
        if (all_done(duty)) continue;
        const std::vector<std::size_t> tools = missing(duty, view);
        // A rule for "*" is one duty for each tool but one line here.
        const bool again = !out.outstanding.empty() && out.outstanding.back().rule == duty.rule;
        if (!again) out.outstanding.push_back({duty.rule, {}});
        std::vector<std::string>& names = out.outstanding.back().tools;
        for (const std::size_t tool : tools) {
            if (std::ranges::find(names, tool_name(tool)) == names.end())
                names.push_back(tool_name(tool));
        }
    }
    const auto place = [&](const std::string& name) { return *rules_->catalog().index_of(name); };
    for (LoopReport::Outstanding& each : out.outstanding) {
        std::ranges::sort(each.tools,
                          [&](const auto& a, const auto& b) { return place(a) < place(b); });
    }
    out.may_exit = out.outstanding.empty();
    for (std::size_t tool = 0; tool < rules_->catalog().size(); ++tool) {
        if (rules_->starts_loop(tool) && !done_.has(tool))
            out.start_with.push_back(tool_name(tool));
    }
    for (const std::uint32_t rule : rules_->periodic_rules()) {
        if (!running_) break;
        const std::int64_t started = started_[rules_->tool_of(rule)];
        const std::int64_t since = started >= 0 ? started : begun_;
        const std::int64_t by = view.now - since - rules_->rule(rule).number;
        if (by > 0) out.overdue.push_back({rule, by});
    }
    return out;
}

// One sentence for a person about one check, with the numbers behind it.
std::string RuleAutomaton::why(const RuleCheck& check, bool good, std::size_t tool,
                               const CountedFacts& view) const {
    const ToolFacts& facts = view.of(check.per);
    switch (check.kind) {
        case Kind::operation:
            return good ? "The rule allows this operation."
                        : "The rule does not allow this operation.";
        case Kind::calls:
            return cat("Called ", facts.calls[tool], " of at most ", check.number,
                       check.number == 1 ? " time " : " times ", scope_words(check.per), ".");
        case Kind::cooldown:
            if (!facts.called.has(tool)) return cat("Not called ", scope_words(check.per), ".");
            return cat("The last call began ", view.now - facts.last_start[tool], " ms ago.");
        case Kind::preceding:
            return good ? "All required tools have succeeded."
                        : cat("Must still succeed: ", names_of(missing(check, view)), ".");
        case Kind::group:
            return good ? cat("No other tool of the group was called ", scope_words(check.per), ".")
                        : cat("Another tool of the group was called ", scope_words(check.per), ".");
        case Kind::consent:
            return "A person has to agree.";
        case Kind::exit_never:
            return "The tool ends the work, so no other tool can follow it.";
        case Kind::exit_required:
        case Kind::exit_required_if:
        case Kind::exit_following:
            return good ? "Nothing is outstanding before the end."
                        : cat("Outstanding before the end: ", names_of(missing(check, view)), ".");
    }
    return {};
}

// Lists each rule about the tool once, also the ones that another rule replaces.
void RuleAutomaton::trace(const ToolCall& call, std::size_t tool, const CountedFacts& view,
                          CallDecision& decision) const {
    std::vector<RuleLook>& out = decision.trace;
    const std::size_t operation = operation_of(tool, call.operation);
    for (const RuleCheck& check : rules_->checks(tool)) {
        const bool good = holds(check, tool, operation, view);
        const Outcome outcome = !good                                            ? Outcome::refuses
                                : check.kind == Kind::consent && !call.consented ? Outcome::asks
                                                                                 : Outcome::holds;
        std::string sentence = check.kind == Kind::consent && call.consented
                                   ? "A person has agreed."
                                   : why(check, good, tool, view);
        // If a rule has several checks, the one that refuses speaks for it.
        const bool again = !out.empty() && out.back().rule == check.rule;
        if (again && (good || out.back().outcome == Outcome::refuses)) continue;
        if (again) out.pop_back();
        out.push_back({check.rule, outcome, std::move(sentence)});
    }
    for (const std::uint32_t rule : rules_->start_rules()) {
        const std::size_t start = rules_->tool_of(rule);
        const bool waits = !rules_->starts_loop(tool) && !done_.has(start);
        const std::string name = cat("`", tool_name(start), "`");
        out.push_back({rule, waits ? Outcome::refuses : Outcome::holds,
                       start == tool      ? "The work may begin with it."
                       : done_.has(start) ? cat(name, " has succeeded.")
                       : waits            ? cat(name, " has yet to succeed.")
                                          : "The work may begin with either tool."});
    }
    for (std::size_t rule = 0; rule < rules_->rules().size(); ++rule) {
        if (!rules_->is_replaced(rule, tool)) continue;
        out.push_back({rule, Outcome::replaced, "A rule that names the tool replaces it."});
    }
    std::ranges::stable_sort(out,
                             [](const RuleLook& a, const RuleLook& b) { return a.rule < b.rule; });
}

CallDecision RuleAutomaton::explain(const ToolCall& call) const {
    const auto tool = rules_->catalog().index_of(call.tool);
    if (!tool) return unknown_tool(call, rules_->catalog());
    const CountedFacts view = view_of(call.conversation);
    CallDecision decision = decide(call, *tool, view);
    trace(call, *tool, view, decision);
    return decision;
}

}  // namespace quire::policy
