// How a call is decided.
//
// A rule is not interpreted when a call arrives. RuleSet has compiled it into checks over bit sets
// (rule_set.h), one bit per tool of the catalog; the automaton's state is those sets: which tools
// were called, which succeeded (per session, per conversation, for ever), and which succeeded in
// the running loop.
//
// ToolCall --> index of tool --> summary checks: all hold? --yes--> consents? --> allow or escalate
//                                       |
//                                       no --> checks in rule order --> first refusal --> wording
//
// An allowed call costs one AND per 64 tools and kind of check and never looks at a rule. Only a
// refusal reads the rules, to find the first by priority that refuses and to say what would work
// instead: next_towards() follows the missing tools at most kStepsAhead steps until it meets one
// that would be admitted now. A classical automaton would need a state per combination of counts
// and sets, 2^tools of them; keeping the sets themselves as the state avoids that.
// bench/rules_bench.cc has the figures.
//
// The order of success matters for requires_following_tools only, so each success in a loop gets a
// number (done_at_): a tool was followed if its followers have a greater one.
//
// The words of refusals are in rule_refusal.cc, the ones of explain() and report() in
// rule_report.cc.

#include "policy/rule_automaton.h"

#include <algorithm>

#include "policy/rule_refusal.h"

namespace quire::policy {

using Kind = RuleCheck::Kind;

namespace {

// Returns true if every tool of the set is in the other; one AND per word.
bool has_all(std::span<const RuleCheck::Part> parts, const IndexSet& set) {
    return std::ranges::all_of(parts, [&](const RuleCheck::Part& part) {
        return (part.bits & ~set.word(part.word)) == 0;
    });
}

// Returns true if any tool of the set is in the other.
bool has_any(std::span<const RuleCheck::Part> parts, const IndexSet& set) {
    return std::ranges::any_of(
        parts, [&](const RuleCheck::Part& part) { return (part.bits & set.word(part.word)) != 0; });
}

bool is_exit_check(Kind kind) {
    return kind == Kind::exit_required || kind == Kind::exit_required_if ||
           kind == Kind::exit_following || kind == Kind::exit_never;
}

}  // namespace

RuleAutomaton::RuleAutomaton(RuleLedger& ledger)
    : ledger_(ledger),
      rules_(&ledger.rules()),
      session_(rules_->catalog().size()),
      unnamed_(rules_->catalog().size()),
      done_(rules_->catalog().size()),
      done_at_(rules_->catalog().size()),
      started_(rules_->catalog().size(), -1) {}

void RuleAutomaton::follow_ledger() {
    rules_ = &ledger_.rules();
    const std::size_t tools = rules_->catalog().size();
    session_.grow(tools);
    unnamed_.grow(tools);
    done_.grow(tools);
    done_at_.resize(tools);
    started_.resize(tools, -1);
}

const std::string& RuleAutomaton::tool_name(std::size_t tool) const {
    return rules_->catalog().tools()[tool].name;
}

// The three sets of facts that a call is counted in: session, conversation and ever.
RuleAutomaton::CountedFacts RuleAutomaton::view_of(std::string_view conversation) const {
    return {
        {&session_, conversation.empty() ? &unnamed_ : &ledger_.find(conversation), &ledger_.ever_},
        ledger_.clock().steady_ms()};
}

// True if the condition of an exit_… check is met.
bool RuleAutomaton::all_done(const RuleCheck& check) const {
    const auto set = rules_->parts(check.set);
    switch (check.kind) {
        case Kind::exit_required:
            return has_all(set, done_);
        case Kind::exit_required_if:
            return !has_any(rules_->parts(check.others), done_) || has_all(set, done_);
        case Kind::exit_following: {
            const std::uint64_t since = done_at_[static_cast<std::size_t>(check.number)];
            bool done = true;
            each_of(set, [&](std::size_t tool) { done = done && done_at_[tool] > since; });
            return since == 0 || done;
        }
        case Kind::operation:
        case Kind::calls:
        case Kind::cooldown:
        case Kind::preceding:
        case Kind::group:
        case Kind::consent:
        case Kind::exit_never:
            break;
    }
    return false;
}

// The heart of the automaton: one check against the facts. Every case is a comparison or an AND.
bool RuleAutomaton::holds(const RuleCheck& check, std::size_t tool, std::size_t operation,
                          const CountedFacts& view) const {
    const ToolFacts& facts = view.of(check.per);
    switch (check.kind) {
        case Kind::operation: {
            if (operation == kAnyOperation) return rules_->is_listed(tool);
            const auto parts = rules_->parts(check.set);
            return std::ranges::any_of(parts, [&](const RuleCheck::Part& part) {
                return part.word == operation / 64 && ((part.bits >> (operation % 64)) & 1U) != 0;
            });
        }
        case Kind::calls:
            return facts.calls[tool] < check.number;
        case Kind::cooldown:
            return !facts.called.has(tool) || view.now - facts.last_start[tool] >= check.number;
        case Kind::preceding:
            return has_all(rules_->parts(check.set), facts.succeeded);
        case Kind::group:
            return !has_any(rules_->parts(check.set), facts.called);
        case Kind::consent:
            return true;  // A consent never refuses.
        case Kind::exit_required:
        case Kind::exit_required_if:
        case Kind::exit_following:
        case Kind::exit_never:
            return all_done(check);
    }
    return true;
}

// The first start_constraint that keeps this tool waiting.
std::optional<std::uint32_t> RuleAutomaton::waiting_start(std::size_t tool) const {
    const IndexSet& starts = rules_->start_tools();
    if (starts.has(tool)) return std::nullopt;
    bool waits = false;
    for (std::size_t i = 0; i < starts.words(); ++i)
        waits = waits || (starts.word(i) & ~done_.word(i)) != 0;
    if (!waits) return std::nullopt;
    for (const std::uint32_t rule : rules_->start_rules()) {
        if (!done_.has(rules_->tool_of(rule))) return rule;
    }
    return std::nullopt;
}

// The first rule that refuses the call, in the order in which refusals are reported.
std::optional<RuleAutomaton::Refusal> RuleAutomaton::first_refusal(std::size_t tool,
                                                                   std::size_t operation,
                                                                   const CountedFacts& view) const {
    const auto start = waiting_start(tool);
    const auto all = rules_->summary(tool);
    const bool all_hold = std::ranges::all_of(
        all, [&](const RuleCheck& check) { return holds(check, tool, operation, view); });
    for (const RuleCheck& check : rules_->checks(tool)) {
        const bool later = start && *start < check.rule && check.kind != Kind::operation;
        if (all_hold || later) break;
        if (!holds(check, tool, operation, view)) return Refusal{check.rule, &check};
    }
    if (start) return Refusal{*start, nullptr};
    return std::nullopt;
}

// The operation's index among those that the tool declares, or their number if it is unknown.
std::size_t RuleAutomaton::operation_of(std::size_t tool, std::string_view word) const {
    const auto& declared = rules_->catalog().tools()[tool].operations;
    return static_cast<std::size_t>(std::ranges::find(declared, word) - declared.begin());
}

// The tools that must succeed before the check holds.
std::vector<std::size_t> RuleAutomaton::missing(const RuleCheck& check,
                                                const CountedFacts& view) const {
    std::vector<std::size_t> out;
    const auto set = rules_->parts(check.set);
    if (check.kind == Kind::preceding) {
        each_of(set, [&](std::size_t tool) {
            if (!view.of(check.per).succeeded.has(tool)) out.push_back(tool);
        });
    } else if (check.kind == Kind::exit_following) {
        const std::uint64_t since = done_at_[static_cast<std::size_t>(check.number)];
        each_of(set, [&](std::size_t tool) {
            if (done_at_[tool] <= since) out.push_back(tool);
        });
    } else if (is_exit_check(check.kind)) {
        each_of(set, [&](std::size_t tool) {
            if (!done_.has(tool)) out.push_back(tool);
        });
    }
    return out;
}

// Refusals come before consent, so that nobody is asked about a call that would be refused anyway.
CallDecision RuleAutomaton::decide(const ToolCall& call, std::size_t tool,
                                   const CountedFacts& view) const {
    CallDecision decision;
    if (const auto refusal = first_refusal(tool, operation_of(tool, call.operation), view)) {
        decision.verdict = Verdict::deny;
        decision.rule = refusal->rule;
        decision.error = error_of(*refusal, call, tool, view);
        return decision;
    }
    if (call.consented) return decision;
    const auto consents = rules_->consents(tool);
    if (consents.empty()) return decision;
    decision.asks.assign(consents.begin(), consents.end());
    decision.verdict = Verdict::escalate;
    decision.rule = decision.asks.front();
    decision.error = consent_error(decision, call);
    return decision;
}

CallDecision RuleAutomaton::decide(const ToolCall& call) const {
    const auto tool = rules_->catalog().index_of(call.tool);
    return tool ? decide(call, *tool, view_of(call.conversation))
                : unknown_tool(call, rules_->catalog());
}

// Decides and counts in one step. The first admitted call after an end begins the next loop.
Admission RuleAutomaton::admit(const ToolCall& call) {
    const auto tool = rules_->catalog().index_of(call.tool);
    if (!tool) return {unknown_tool(call, rules_->catalog())};
    const CountedFacts view = view_of(call.conversation);
    Admission out{decide(call, *tool, view)};
    if (out.decision.verdict != Verdict::allow) return out;
    if (!running_) {
        running_ = true;
        begun_ = view.now;
        done_.clear();
        std::ranges::fill(done_at_, 0);
        std::ranges::fill(started_, -1);
        successes_ = 0;
    }
    started_[*tool] = view.now;
    session_.note_call(*tool, view.now);
    if (call.conversation.empty()) {
        unnamed_.note_call(*tool, view.now);
    } else if (rules_->remembered(Per::conversation).has(*tool)) {
        ledger_.note_call(std::string(call.conversation), *tool, view.now);
    }
    if (rules_->remembered(Per::persistent).has(*tool))
        ledger_.note_call(std::nullopt, *tool, view.now);
    out.ticket = Ticket(*tool, loop_, std::string(call.conversation));
    return out;
}

// Success is what satisfies prerequisites and duties; a failed call only counts as called.
LoopStep RuleAutomaton::finish(Ticket ticket, bool success) {
    if (!success) return LoopStep::none;
    const std::size_t tool = ticket.tool_;
    session_.succeeded.add(tool);
    if (ticket.conversation_.empty()) {
        unnamed_.succeeded.add(tool);
    } else if (rules_->remembered(Per::conversation).has(tool)) {
        ledger_.note_success(std::move(ticket.conversation_), tool);
    }
    if (rules_->remembered(Per::persistent).has(tool)) ledger_.note_success(std::nullopt, tool);
    // A call that outlived its loop counts for nothing in the next.
    if (!running_ || ticket.loop_ != loop_) return LoopStep::none;
    done_.add(tool);
    done_at_[tool] = ++successes_;
    if (rules_->ends_loop(tool)) {
        running_ = false;
        ++loop_;
        done_.clear();
        std::ranges::fill(done_at_, 0);
        return LoopStep::ended;
    }
    return rules_->continues_loop(tool) ? LoopStep::goes_on : LoopStep::none;
}

}  // namespace quire::policy
