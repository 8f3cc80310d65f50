#include "policy/rule_automaton.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"

namespace quire::policy {

using Kind = RuleCheck::Kind;
using Outcome = RuleLook::Outcome;

// The facts that one call is held against.
struct RuleAutomaton::View {
    const ToolFacts* facts[std::size(kPers)];
    std::int64_t now;

    const ToolFacts& of(Per per) const { return *facts[static_cast<std::size_t>(per)]; }
};

struct RuleAutomaton::Refusing {
    std::uint32_t rule = 0;
    const RuleCheck* check = nullptr;  // Null for a start_constraint.
};

namespace {

// How far a chain of "call this first" is followed.
constexpr int kStepsAhead = 8;

bool has_all(std::span<const RuleCheck::Part> parts, const IndexSet& set) {
    return std::all_of(parts.begin(), parts.end(), [&](const RuleCheck::Part& part) {
        return (part.bits & ~set.word(part.word)) == 0;
    });
}

bool has_any(std::span<const RuleCheck::Part> parts, const IndexSet& set) {
    return std::any_of(parts.begin(), parts.end(), [&](const RuleCheck::Part& part) {
        return (part.bits & set.word(part.word)) != 0;
    });
}

template <class F>
void each_of(std::span<const RuleCheck::Part> parts, F take) {
    for (const RuleCheck::Part& part : parts) {
        for (std::uint64_t bits = part.bits; bits != 0; bits &= bits - 1) {
            take(std::size_t{part.word} * 64 + static_cast<std::size_t>(__builtin_ctzll(bits)));
        }
    }
}

bool is_exit_check(Kind kind) {
    return kind == Kind::exit_required || kind == Kind::exit_required_if ||
           kind == Kind::exit_following || kind == Kind::exit_never;
}

Map details_of(const ToolCall& call, const ToolRule& rule) {
    Map named_rule = {{"type", name_of(rule.type)}, {"tool", rule.tool}};
    if (rule.line != 0) named_rule.append("line", rule.line);
    Map details = {{"tool", call.tool}};
    if (!call.operation.empty()) details.append("operation", call.operation);
    details.append("rule", std::move(named_rule));
    return details;
}

std::string scope_words(Per per) {
    switch (per) {
        case Per::session:
            return "in this session";
        case Per::conversation:
            return "in this conversation";
        case Per::persistent:
            return "so far";
    }
    return {};
}

}  // namespace

std::string_view name_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::holds:
            return "holds";
        case Outcome::refuses:
            return "refuses";
        case Outcome::asks:
            return "asks";
        case Outcome::replaced:
            return "replaced";
    }
    return "";
}

RuleAutomaton::RuleAutomaton(RuleLedger& ledger)
    : ledger_(ledger),
      rules_(ledger.rules()),
      session_(rules_.catalog().size()),
      unnamed_(rules_.catalog().size()),
      done_(rules_.catalog().size()),
      done_at_(rules_.catalog().size()),
      started_(rules_.catalog().size(), -1) {}

const std::string& RuleAutomaton::tool_name(std::size_t tool) const {
    return rules_.catalog().tools()[tool].name;
}

std::string RuleAutomaton::names_of(const std::vector<std::size_t>& tools) const {
    std::string out;
    for (const std::size_t tool : tools)
        cat_to(out, cat(out.empty() ? "" : ", ", "`", tool_name(tool), "`"));
    return out;
}

RuleAutomaton::View RuleAutomaton::view_of(std::string_view conversation) const {
    return {
        {&session_, conversation.empty() ? &unnamed_ : &ledger_.find(conversation), &ledger_.ever_},
        ledger_.clock().steady_ms()};
}

// What an exit_… check is about is done.
bool RuleAutomaton::all_done(const RuleCheck& check) const {
    const auto set = rules_.parts(check.set);
    switch (check.kind) {
        case Kind::exit_required:
            return has_all(set, done_);
        case Kind::exit_required_if:
            return !has_any(rules_.parts(check.others), done_) || has_all(set, done_);
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

bool RuleAutomaton::holds(const RuleCheck& check, std::size_t tool, std::size_t operation,
                          const View& view) const {
    const ToolFacts& facts = view.of(check.per);
    switch (check.kind) {
        case Kind::operation: {
            if (operation == kAnyOperation) return rules_.is_listed(tool);
            const auto parts = rules_.parts(check.set);
            return std::any_of(parts.begin(), parts.end(), [&](const RuleCheck::Part& part) {
                return part.word == operation / 64 && ((part.bits >> (operation % 64)) & 1U) != 0;
            });
        }
        case Kind::calls:
            return facts.calls[tool] < check.number;
        case Kind::cooldown:
            return !facts.called.has(tool) || view.now - facts.last_start[tool] >= check.number;
        case Kind::preceding:
            return has_all(rules_.parts(check.set), facts.succeeded);
        case Kind::group:
            return !has_any(rules_.parts(check.set), facts.called);
        case Kind::consent:
            return true;  // It refuses nothing.
        case Kind::exit_required:
        case Kind::exit_required_if:
        case Kind::exit_following:
        case Kind::exit_never:
            return all_done(check);
    }
    return true;
}

std::optional<std::uint32_t> RuleAutomaton::waiting_start(std::size_t tool) const {
    const IndexSet& starts = rules_.start_tools();
    if (starts.has(tool)) return std::nullopt;
    bool waits = false;
    for (std::size_t i = 0; i < starts.words(); ++i)
        waits = waits || (starts.word(i) & ~done_.word(i)) != 0;
    if (!waits) return std::nullopt;
    for (const std::uint32_t rule : rules_.start_rules()) {
        if (!done_.has(rules_.tool_of(rule))) return rule;
    }
    return std::nullopt;
}

std::optional<RuleAutomaton::Refusing> RuleAutomaton::first_refusal(std::size_t tool,
                                                                    std::size_t operation,
                                                                    const View& view) const {
    const auto start = waiting_start(tool);
    const auto all = rules_.summary(tool);
    const bool all_hold = std::all_of(all.begin(), all.end(), [&](const RuleCheck& check) {
        return holds(check, tool, operation, view);
    });
    for (const RuleCheck& check : rules_.checks(tool)) {
        const bool later = start && *start < check.rule && check.kind != Kind::operation;
        if (all_hold || later) break;
        if (!holds(check, tool, operation, view)) return Refusing{check.rule, &check};
    }
    if (start) return Refusing{*start, nullptr};
    return std::nullopt;
}

// Its place among those that the tool declares; none of them where it is not there.
std::size_t RuleAutomaton::operation_of(std::size_t tool, std::string_view word) const {
    const auto& declared = rules_.catalog().tools()[tool].operations;
    return static_cast<std::size_t>(std::find(declared.begin(), declared.end(), word) -
                                    declared.begin());
}

// Which tools would have to succeed for the check to hold.
std::vector<std::size_t> RuleAutomaton::missing(const RuleCheck& check, const View& view) const {
    std::vector<std::size_t> out;
    const auto set = rules_.parts(check.set);
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

// The first of `wanted` that would be admitted now, or what has to come before it.
std::optional<std::size_t> RuleAutomaton::next_towards(std::vector<std::size_t> wanted,
                                                       const View& view) const {
    for (int step = 0; step < kStepsAhead && !wanted.empty(); ++step) {
        std::optional<Refusing> first;
        for (const std::size_t tool : wanted) {
            const auto refusing = first_refusal(tool, kAnyOperation, view);
            if (!refusing && rules_.is_callable(tool)) return tool;
            if (!first) first = refusing;
        }
        if (!first) break;
        wanted = first->check != nullptr ? missing(*first->check, view)
                                         : std::vector{rules_.tool_of(first->rule)};
    }
    return std::nullopt;
}

// A refusal that is being worded.
struct RuleAutomaton::Wording {
    const RuleAutomaton& of;
    const ToolCall& call;
    std::size_t tool;
    const View& view;
    const ToolRule& rule;
    Map details = details_of(call, rule);
    std::string by = cat(" (rule ", named(rule), ")");
    std::string name = cat("`", of.tool_name(tool), "`");

    List listed(const std::vector<std::size_t>& tools) const {
        List out;
        for (const std::size_t each : tools) out.emplace_back(of.tool_name(each));
        return out;
    }
    Error refuse(std::string reason, std::string message) {
        return {Errc::denied, std::move(reason), std::move(message), std::move(details)};
    }
    // With what is missing, and the next call on the way there.
    Error lacking(std::string reason, std::string message, const std::vector<std::size_t>& tools) {
        details.append("missing", listed(tools));
        if (const auto next = of.next_towards(tools, view)) {
            details.append("next", of.tool_name(*next));
            cat_to(message, cat(" Call `", of.tool_name(*next), "` next."));
        } else {
            cat_to(message, " None of these may be called now: go on without it.");
        }
        return refuse(std::move(reason), std::move(message));
    }
    Error start() {
        std::vector<std::size_t> waiting;
        for (std::size_t each = 0; each < of.rules_.catalog().size(); ++each) {
            if (of.rules_.starts_loop(each) && !of.done_.has(each)) waiting.push_back(each);
        }
        return lacking(
            "start_constraints_not_met",
            cat(name, " has to wait: the work begins with ", of.names_of(waiting), by, "."),
            waiting);
    }
    Error operation() {
        List allowed;
        std::string words;
        const auto left = of.rules_.allowed_operations(of.tool_name(tool));
        for (const std::string& word : *left) {
            cat_to(words, cat(words.empty() ? "" : ", ", word));
            allowed.emplace_back(word);
        }
        details.append("allowed", std::move(allowed));
        return refuse(
            "operation_not_allowed",
            cat("Operation '", call.operation, "' not allowed for tool '", of.tool_name(tool),
                "'. Allowed operations: ", words.empty() ? "none" : words));
    }
    Error calls(const RuleCheck& check) {
        const std::int64_t calls = view.of(check.per).calls[tool];
        details.append("limit", check.number);
        details.append("calls", calls);
        details.append("per", policy::name_of(check.per));
        if (check.number == 0) {
            return refuse("max_calls_exceeded",
                          cat(name, " may not be called", by, ". Go on without it."));
        }
        return refuse(
            "max_calls_exceeded",
            cat(name, " was called ", calls, calls == 1 ? " time " : " times ",
                scope_words(check.per), "; ", check.number, check.number == 1 ? " is" : " are",
                " allowed", by, ". Go on without it."));
    }
    Error cooldown() {
        std::int64_t wait = 0;
        for (const RuleCheck& each : of.rules_.checks(tool)) {
            if (each.kind != Kind::cooldown || of.holds(each, tool, kAnyOperation, view)) continue;
            wait = std::max(wait, each.number - (view.now - view.of(each.per).last_start[tool]));
        }
        details.append("retry_after_ms", wait);
        return {
            Errc::unavailable, "cooldown_active",
            cat(name, " was called too short a while ago", by, ". Call it again in ", wait, " ms."),
            std::move(details)};
    }
    Error preceding(const RuleCheck& check) {
        const std::vector<std::size_t> tools = of.missing(check, view);
        return lacking(
            "prerequisites_not_met",
            cat(name, " may be called once these have succeeded: ", of.names_of(tools), by, "."),
            tools);
    }
    Error group(const RuleCheck& check) {
        std::vector<std::size_t> called;
        each_of(of.rules_.parts(check.set), [&](std::size_t each) {
            if (view.of(check.per).called.has(each)) called.push_back(each);
        });
        details.append("called", listed(called));
        return refuse(
            "exclusive_group_violation",
            cat(name, " may not be called beside ", of.names_of(called), ", which was called ",
                scope_words(check.per), by, ". Go on with ", of.names_of(called), "."));
    }
    Error exit(const RuleCheck& check) {
        if (check.kind == Kind::exit_never) {
            return refuse("ordering_violation",
                          cat(name, " ends the work, and other tools would have to follow it", by,
                              ". Go on without it."));
        }
        const std::vector<std::size_t> tools = of.missing(check, view);
        return lacking("ordering_violation",
                       cat(name, " ends the work, and these have yet to succeed before: ",
                           of.names_of(tools), by, "."),
                       tools);
    }
};

Error RuleAutomaton::error_of(const Refusing& refusing, const ToolCall& call, std::size_t tool,
                              const View& view) const {
    Wording wording{*this, call, tool, view, rules_.rule(refusing.rule)};
    if (refusing.check == nullptr) return wording.start();
    const RuleCheck& check = *refusing.check;
    switch (check.kind) {
        case Kind::operation:
            return wording.operation();
        case Kind::calls:
            return wording.calls(check);
        case Kind::cooldown:
            return wording.cooldown();
        case Kind::preceding:
            return wording.preceding(check);
        case Kind::group:
            return wording.group(check);
        case Kind::exit_never:
        case Kind::exit_required:
        case Kind::exit_required_if:
        case Kind::exit_following:
            return wording.exit(check);
        case Kind::consent:
            break;
    }
    CHECK(false && "a consent is no refusal");
}

Error RuleAutomaton::consent_error(const CallDecision& decision, const ToolCall& call) const {
    const ToolRule& rule = rules_.rule(decision.asks.front());
    Map details = details_of(call, rule);
    List scopes;
    for (const std::size_t each : decision.asks) {
        if (!rules_.rule(each).scope.empty()) scopes.emplace_back(rules_.rule(each).scope);
    }
    details.append("scopes", std::move(scopes));
    return {Errc::escalation_required, "escalation_required",
            cat("A person has to agree before `", call.tool, "` is called (rule ", named(rule),
                "). Call it again once they have."),
            std::move(details)};
}

CallDecision RuleAutomaton::decide(const ToolCall& call, std::size_t tool, const View& view) const {
    CallDecision decision;
    if (const auto refusing = first_refusal(tool, operation_of(tool, call.operation), view)) {
        decision.verdict = Verdict::deny;
        decision.rule = refusing->rule;
        decision.error = error_of(*refusing, call, tool, view);
        return decision;
    }
    if (call.consented) return decision;
    const auto consents = rules_.consents(tool);
    if (consents.empty()) return decision;
    decision.asks.assign(consents.begin(), consents.end());
    decision.verdict = Verdict::escalate;
    decision.rule = decision.asks.front();
    decision.error = consent_error(decision, call);
    return decision;
}

namespace {

CallDecision unknown(const ToolCall& call, const ToolCatalog& catalog) {
    CallDecision decision;
    decision.verdict = Verdict::deny;
    decision.error = Error(Errc::not_found, "unknown_tool",
                           cat("there is no tool `", call.tool, "`; there are: ", catalog.names()),
                           {{"tool", call.tool}});
    return decision;
}

}  // namespace

CallDecision RuleAutomaton::decide(const ToolCall& call) const {
    const auto tool = rules_.catalog().index_of(call.tool);
    return tool ? decide(call, *tool, view_of(call.conversation)) : unknown(call, rules_.catalog());
}

Admission RuleAutomaton::admit(const ToolCall& call) {
    const auto tool = rules_.catalog().index_of(call.tool);
    if (!tool) return {unknown(call, rules_.catalog())};
    const View view = view_of(call.conversation);
    Admission out{decide(call, *tool, view)};
    if (out.decision.verdict != Verdict::allow) return out;
    if (!running_) {
        running_ = true;
        begun_ = view.now;
        done_.clear();
        std::fill(done_at_.begin(), done_at_.end(), 0);
        std::fill(started_.begin(), started_.end(), -1);
        successes_ = 0;
    }
    started_[*tool] = view.now;
    session_.note_call(*tool, view.now);
    if (call.conversation.empty()) {
        unnamed_.note_call(*tool, view.now);
    } else if (rules_.remembered(Per::conversation).has(*tool)) {
        ledger_.note_call(std::string(call.conversation), *tool, view.now);
    }
    if (rules_.remembered(Per::persistent).has(*tool))
        ledger_.note_call(std::nullopt, *tool, view.now);
    out.ticket = Ticket(*tool, loop_, std::string(call.conversation));
    return out;
}

LoopStep RuleAutomaton::finish(Ticket ticket, bool success) {
    if (!success) return LoopStep::none;
    const std::size_t tool = ticket.tool_;
    session_.succeeded.add(tool);
    if (ticket.conversation_.empty()) {
        unnamed_.succeeded.add(tool);
    } else if (rules_.remembered(Per::conversation).has(tool)) {
        ledger_.note_success(std::move(ticket.conversation_), tool);
    }
    if (rules_.remembered(Per::persistent).has(tool)) ledger_.note_success(std::nullopt, tool);
    // One that outlived its loop counts for nothing in the next.
    if (!running_ || ticket.loop_ != loop_) return LoopStep::none;
    done_.add(tool);
    done_at_[tool] = ++successes_;
    if (rules_.ends_loop(tool)) {
        running_ = false;
        ++loop_;
        done_.clear();
        std::fill(done_at_.begin(), done_at_.end(), 0);
        return LoopStep::ended;
    }
    return rules_.continues_loop(tool) ? LoopStep::goes_on : LoopStep::none;
}

LoopReport RuleAutomaton::report() const {
    LoopReport out;
    const View view = view_of({});
    out.loops_ended = loop_;
    out.running = running_;
    const auto duties = rules_.duties();
    for (const RuleCheck& duty : duties) {
        if (all_done(duty)) continue;
        const std::vector<std::size_t> tools = missing(duty, view);
        // A rule for "*" is one duty for each tool, and one line here.
        const bool again = !out.outstanding.empty() && out.outstanding.back().rule == duty.rule;
        if (!again) out.outstanding.push_back({duty.rule, {}});
        std::vector<std::string>& names = out.outstanding.back().tools;
        for (const std::size_t tool : tools) {
            if (std::find(names.begin(), names.end(), tool_name(tool)) == names.end())
                names.push_back(tool_name(tool));
        }
    }
    const auto place = [&](const std::string& name) { return *rules_.catalog().index_of(name); };
    for (LoopReport::Outstanding& each : out.outstanding) {
        std::sort(each.tools.begin(), each.tools.end(),
                  [&](const auto& a, const auto& b) { return place(a) < place(b); });
    }
    out.may_exit = out.outstanding.empty();
    for (std::size_t tool = 0; tool < rules_.catalog().size(); ++tool) {
        if (rules_.starts_loop(tool) && !done_.has(tool)) out.start_with.push_back(tool_name(tool));
    }
    for (const std::uint32_t rule : rules_.periodic_rules()) {
        if (!running_) break;
        const std::int64_t started = started_[rules_.tool_of(rule)];
        const std::int64_t since = started >= 0 ? started : begun_;
        const std::int64_t by = view.now - since - rules_.rule(rule).number;
        if (by > 0) out.overdue.push_back({rule, by});
    }
    return out;
}

// --- explain ---

std::string RuleAutomaton::why(const RuleCheck& check, bool good, std::size_t tool,
                               const View& view) const {
    const ToolFacts& facts = view.of(check.per);
    switch (check.kind) {
        case Kind::operation:
            return good ? "The operation is one of those that it allows."
                        : "The operation is none of those that it allows.";
        case Kind::calls:
            return cat("Called ", facts.calls[tool], " of at most ", check.number,
                       check.number == 1 ? " time " : " times ", scope_words(check.per), ".");
        case Kind::cooldown:
            if (!facts.called.has(tool)) return cat("Not called ", scope_words(check.per), ".");
            return cat("The last call began ", view.now - facts.last_start[tool], " ms ago.");
        case Kind::preceding:
            return good ? "All that it asks for have succeeded."
                        : cat("Yet to succeed: ", names_of(missing(check, view)), ".");
        case Kind::group:
            return good ? cat("No other tool of the group was called ", scope_words(check.per), ".")
                        : cat("Another tool of the group was called ", scope_words(check.per), ".");
        case Kind::consent:
            return "A person has to agree.";
        case Kind::exit_never:
            return "The tool ends the work, so nothing can follow it.";
        case Kind::exit_required:
        case Kind::exit_required_if:
        case Kind::exit_following:
            return good ? "Nothing is outstanding before the end."
                        : cat("Outstanding before the end: ", names_of(missing(check, view)), ".");
    }
    return {};
}

void RuleAutomaton::trace(const ToolCall& call, std::size_t tool, const View& view,
                          CallDecision& decision) const {
    std::vector<RuleLook>& out = decision.trace;
    const std::size_t operation = operation_of(tool, call.operation);
    for (const RuleCheck& check : rules_.checks(tool)) {
        const bool good = holds(check, tool, operation, view);
        const Outcome outcome = !good                                            ? Outcome::refuses
                                : check.kind == Kind::consent && !call.consented ? Outcome::asks
                                                                                 : Outcome::holds;
        std::string sentence = check.kind == Kind::consent && call.consented
                                   ? "A person has agreed."
                                   : why(check, good, tool, view);
        // Of the checks of one rule the one that refuses speaks for it.
        const bool again = !out.empty() && out.back().rule == check.rule;
        if (again && (good || out.back().outcome == Outcome::refuses)) continue;
        if (again) out.pop_back();
        out.push_back({check.rule, outcome, std::move(sentence)});
    }
    for (const std::uint32_t rule : rules_.start_rules()) {
        const std::size_t start = rules_.tool_of(rule);
        const bool waits = !rules_.starts_loop(tool) && !done_.has(start);
        const std::string name = cat("`", tool_name(start), "`");
        out.push_back({rule, waits ? Outcome::refuses : Outcome::holds,
                       start == tool      ? "The work may begin with it."
                       : done_.has(start) ? cat(name, " has succeeded.")
                       : waits            ? cat(name, " has yet to succeed.")
                                          : "The work may begin with either."});
    }
    for (std::size_t rule = 0; rule < rules_.rules().size(); ++rule) {
        if (!rules_.is_replaced(rule, tool)) continue;
        out.push_back({rule, Outcome::replaced, "A rule that names the tool stands in its place."});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const RuleLook& a, const RuleLook& b) { return a.rule < b.rule; });
}

CallDecision RuleAutomaton::explain(const ToolCall& call) const {
    const auto tool = rules_.catalog().index_of(call.tool);
    if (!tool) return unknown(call, rules_.catalog());
    const View view = view_of(call.conversation);
    CallDecision decision = decide(call, *tool, view);
    trace(call, *tool, view, decision);
    return decision;
}

}  // namespace quire::policy
