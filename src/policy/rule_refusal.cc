// Writes the message of a refusal.
//
// The reader is an agent in the middle of its work, so every message has three parts: what is
// wrong, which rule says so, and what to call next. "Next" is searched, not guessed: from the tools
// that are missing, next_towards() walks to what those need first, until it finds a call that would
// be admitted now. The walk costs O(kStepsAhead × rules about the tools it meets), and only refused
// calls pay it.
#include "policy/rule_refusal.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"

namespace quire::policy {

using Kind = RuleCheck::Kind;

namespace {

// The longest chain of "call this first" that is followed.
constexpr int kStepsAhead = 8;

// The details that every refusal has.
Map details_of(const ToolCall& call, const ToolRule& rule) {
    Map named_rule = {{"type", name_of(rule.type)}, {"tool", rule.tool}};
    if (rule.line != 0) named_rule.append("line", rule.line);
    Map details = {{"tool", call.tool}};
    if (!call.operation.empty()) details.append("operation", call.operation);
    details.append("rule", std::move(named_rule));
    return details;
}

}  // namespace

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

CallDecision unknown_tool(const ToolCall& call, const ToolCatalog& catalog) {
    CallDecision decision;
    decision.verdict = Verdict::deny;
    decision.error = Error(Errc::not_found, "unknown_tool",
                           cat("unknown tool `", call.tool, "`; the tools are: ", catalog.names()),
                           {{"tool", call.tool}});
    return decision;
}

// Tools in a message: "`a`, `b`".
std::string RuleAutomaton::names_of(const std::vector<std::size_t>& tools) const {
    std::string out;
    for (const std::size_t tool : tools)
        cat_to(out, cat(out.empty() ? "" : ", ", "`", tool_name(tool), "`"));
    return out;
}

// The first of `wanted` that would be admitted now, or what has to come before it.
std::optional<std::size_t> RuleAutomaton::next_towards(std::vector<std::size_t> wanted,
                                                       const CountedFacts& view) const {
    for (int step = 0; step < kStepsAhead && !wanted.empty(); ++step) {
        std::optional<Refusal> first;
        for (const std::size_t tool : wanted) {
            const auto refusal = first_refusal(tool, kAnyOperation, view);
            if (!refusal && rules_->is_callable(tool)) return tool;
            if (!first) first = refusal;
        }
        if (!first) break;
        wanted = first->check != nullptr ? missing(*first->check, view)
                                         : std::vector{rules_->tool_of(first->rule)};
    }
    return std::nullopt;
}

// A refusal that is being worded.
struct RuleAutomaton::RefusalText {
    const RuleAutomaton& automaton;
    const ToolCall& call;
    std::size_t tool;
    const CountedFacts& view;
    const ToolRule& rule;
    Map details = details_of(call, rule);
    std::string by = cat(" (rule ", named(rule), ")");
    std::string name = cat("`", automaton.tool_name(tool), "`");

    List listed(const std::vector<std::size_t>& tools) const {
        List out;
        for (const std::size_t each : tools) out.emplace_back(automaton.tool_name(each));
        return out;
    }
    Error refuse(std::string reason, std::string message) {
        return {Errc::denied, std::move(reason), std::move(message), std::move(details)};
    }
    // With what is missing, and the next call on the way there.
    Error lacking(std::string reason, std::string message, const std::vector<std::size_t>& tools) {
        details.append("missing", listed(tools));
        if (const auto next = automaton.next_towards(tools, view)) {
            details.append("next", automaton.tool_name(*next));
            cat_to(message, cat(" Call `", automaton.tool_name(*next), "` next."));
        } else {
            cat_to(message, " None of these may be called now. Go on without it.");
        }
        return refuse(std::move(reason), std::move(message));
    }
    // Names every start tool that has not succeeded, since any of them may be called first.
    Error start() {
        std::vector<std::size_t> waiting;
        for (std::size_t each = 0; each < automaton.rules_->catalog().size(); ++each) {
            if (automaton.rules_->starts_loop(each) && !automaton.done_.has(each))
                waiting.push_back(each);
        }
        return lacking(
            "start_constraints_not_met",
            cat(name, " must wait: the work begins with ", automaton.names_of(waiting), by, "."),
            waiting);
    }
    // The wording is fixed by the contract.
    Error operation() {
        List allowed;
        std::string words;
        const auto left = automaton.rules_->allowed_operations(automaton.tool_name(tool));
        for (const std::string& word : *left) {
            cat_to(words, cat(words.empty() ? "" : ", ", word));
            allowed.emplace_back(word);
        }
        details.append("allowed", std::move(allowed));
        return refuse("operation_not_allowed",
                      cat("Operation '", call.operation, "' not allowed for tool '",
                          automaton.tool_name(tool),
                          "'. Allowed operations: ", words.empty() ? "none" : words));
    }
    // A limit of 0 is a ban and is worded as one.
    Error calls(const RuleCheck& check) {
        const std::int64_t calls = view.of(check.per).calls[tool];
        details.append("limit", check.number);
        details.append("calls", calls);
        details.append("per", name_of(check.per));
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
    // Waits for the longest of all cooldowns, so the next call is not refused by another one.
    Error cooldown() {
        std::int64_t wait = 0;
        for (const RuleCheck& each : automaton.rules_->checks(tool)) {
            if (each.kind != Kind::cooldown || automaton.holds(each, tool, kAnyOperation, view))
                continue;
            wait = std::max(wait, each.number - (view.now - view.of(each.per).last_start[tool]));
        }
        details.append("retry_after_ms", wait);
        return {Errc::unavailable, "cooldown_active",
                cat(name, " was called too recently", by, ". Call it again in ", wait, " ms."),
                std::move(details)};
    }
    Error preceding(const RuleCheck& check) {
        const std::vector<std::size_t> tools = automaton.missing(check, view);
        return lacking("prerequisites_not_met",
                       cat(name, " may be called only after these have succeeded: ",
                           automaton.names_of(tools), by, "."),
                       tools);
    }
    // Names the tools of the group that were called; the agent can go on with those.
    Error group(const RuleCheck& check) {
        std::vector<std::size_t> called;
        each_of(automaton.rules_->parts(check.set), [&](std::size_t each) {
            if (view.of(check.per).called.has(each)) called.push_back(each);
        });
        details.append("called", listed(called));
        return refuse("exclusive_group_violation",
                      cat(name, " may not be called together with ", automaton.names_of(called),
                          ", which was called ", scope_words(check.per), by, ". Go on with ",
                          automaton.names_of(called), "."));
    }
    // A tool that can never end the loop is told so; otherwise the message names what is
    // outstanding.
    Error exit(const RuleCheck& check) {
        if (check.kind == Kind::exit_never) {
            return refuse("ordering_violation",
                          cat(name, " ends the work, but other tools must be called after it", by,
                              ". Go on without it."));
        }
        const std::vector<std::size_t> tools = automaton.missing(check, view);
        return lacking("ordering_violation",
                       cat(name, " ends the work, but these must succeed first: ",
                           automaton.names_of(tools), by, "."),
                       tools);
    }
};

// One message per kind of check.
Error RuleAutomaton::error_of(const Refusal& refusal, const ToolCall& call, std::size_t tool,
                              const CountedFacts& view) const {
    RefusalText text{*this, call, tool, view, rules_->rule(refusal.rule)};
    if (refusal.check == nullptr) return text.start();
    const RuleCheck& check = *refusal.check;
    switch (check.kind) {
        case Kind::operation:
            return text.operation();
        case Kind::calls:
            return text.calls(check);
        case Kind::cooldown:
            return text.cooldown();
        case Kind::preceding:
            return text.preceding(check);
        case Kind::group:
            return text.group(check);
        case Kind::exit_never:
        case Kind::exit_required:
        case Kind::exit_required_if:
        case Kind::exit_following:
            return text.exit(check);
        case Kind::consent:
            break;
    }
    CHECK(false && "a consent is no refusal");
}

// All rules that ask are listed, so one consent can cover them together.
Error RuleAutomaton::consent_error(const CallDecision& decision, const ToolCall& call) const {
    const ToolRule& rule = rules_->rule(decision.asks.front());
    Map details = details_of(call, rule);
    List scopes;
    for (const std::size_t each : decision.asks) {
        if (!rules_->rule(each).scope.empty()) scopes.emplace_back(rules_->rule(each).scope);
    }
    details.append("scopes", std::move(scopes));
    return {Errc::escalation_required, "escalation_required",
            cat("A person has to agree before `", call.tool, "` is called (rule ", named(rule),
                "). Call it again once they have."),
            std::move(details)};
}

}  // namespace quire::policy
