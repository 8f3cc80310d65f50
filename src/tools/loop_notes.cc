#include "tools/loop_notes.h"

#include <utility>

#include "edits/numbering.h"
#include "kernel/core/kernel.h"
#include "kernel/oversight/rule_calls.h"
#include "policy/rule_automaton.h"
#include "policy/tool_rule.h"

namespace quire::tools {
namespace {

// The tools that must or should still be called before the loop ends, for the program that runs
// the model; null if there are none.
Value due_of(const policy::LoopReport& report, const policy::RuleSet& set) {
    Map out;
    List outstanding;
    for (const auto& each : report.outstanding) {
        outstanding.push_back(Map{{"rule", policy::in_words(set.rule(each.rule))},
                                  {"tools", List(each.tools.begin(), each.tools.end())}});
    }
    if (!outstanding.empty()) out.append("outstanding", std::move(outstanding));
    List overdue;
    for (const auto& each : report.overdue) {
        overdue.push_back(
            Map{{"rule", policy::in_words(set.rule(each.rule))}, {"by_ms", each.by_ms}});
    }
    if (!overdue.empty()) out.append("overdue", std::move(overdue));
    return out.empty() ? Value() : Value(std::move(out));
}

}  // namespace

void tell_host(kernel::RuleCalls& rules, const kernel::Caller& by, policy::LoopStep step,
               Map& meta) {
    if (step != policy::LoopStep::none) meta.set("quire/loop", name_of(step));
    // The report is asked for after the call has ended, so a call that was owed is not among what
    // is due.
    const auto report = rules.report(by);
    const auto set = rules.rules_of(by.actor);
    if (!report || !report->running || set == nullptr) return;
    Value due = due_of(*report, *set);
    if (!due.is_null()) meta.set("quire/due", std::move(due));
}

}  // namespace quire::tools
