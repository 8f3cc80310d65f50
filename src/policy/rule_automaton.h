// RuleAutomaton: the verdict of an agent's rules on each call of one of its sessions.
//
// The caller asks with admit(), which counts the call if it may begin; after the call, finish()
// reports whether it succeeded. A running call counts as called, and as succeeded only at its end.
// A *loop* runs from a first call until a tool that ends loops has succeeded; the next call begins
// the next loop. Nothing here runs tools, waits or asks people. Only agents are governed.
//
//               admit: allowed                     finish: a tool of exit_loop succeeded
// idle --------------------------> running loop n --------------------------------> idle
//   ^                                |      ^  |                                  (n + 1)
//   |                                |      `--' admit, finish of other tools
//   `-- admit: refused               `-- report(): what is outstanding before the end
//
// Not thread-safe: an agent's sessions and their ledger have one owner, a lock or a strand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/enum_words.h"
#include "base/result.h"
#include "policy/actor.h"
#include "policy/permission.h"
#include "policy/rule_ledger.h"
#include "policy/rule_set.h"

namespace quire::policy {

// Returns true if rules for tools apply to this actor.
inline bool is_governed(const Actor& actor) {
    return actor.kind == ActorKind::agent;
}

// One call as the rules see it.
struct ToolCall {
    std::string_view tool;            // The published name.
    std::string_view operation = {};  // "" for a tool that declares none.
    // "" for none. A session's calls without a conversation count as one conversation.
    std::string_view conversation = {};
    bool consented = false;  // A person has agreed to every rule that asked for consent.
};

// The verdict of one rule on a call, for a person to read.
struct RuleLook {
    // The rule is satisfied, refuses the call, asks for consent, or is replaced by a rule that
    // names the tool.
    enum class Outcome : std::uint8_t { holds, refuses, asks, replaced };
    friend constexpr auto words_of(Outcome) {
        return word_table("holds", "refuses", "asks", "replaced");
    }
    std::size_t rule = 0;
    Outcome outcome = Outcome::holds;
    std::string why;  // One sentence.
};

// The answer to a call.
struct CallDecision {
    Verdict verdict = Verdict::allow;
    // Set for deny, and for escalate as long as no approval exists. The message says what is wrong,
    // which rule it is, and what would work next. Details: {tool, operation?, rule: {type, tool,
    // line?}} and those named below. Errors: denied "operation_not_allowed" {allowed},
    // "start_constraints_not_met" {missing}, "prerequisites_not_met" {missing},
    // "max_calls_exceeded" {limit, calls, per}, "exclusive_group_violation" {called},
    // "ordering_violation" {missing}, with `next` if a call is known that would be admitted;
    // unavailable "cooldown_active" {retry_after_ms}; escalation_required "escalation_required"
    // {scopes}; not_found "unknown_tool" if the catalog lacks the tool.
    std::optional<Error> error = {};
    // The rule that refuses, or the first that asks for consent.
    std::optional<std::size_t> rule = {};
    // For escalate: the rules of type requires_consent, in order.
    std::vector<std::size_t> asks = {};
    // Filled by explain() only, in rule order.
    std::vector<RuleLook> trace = {};
};

// An admitted call. Hand it back with finish().
class Ticket {
public:
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&&) noexcept = default;
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    ~Ticket() = default;
    // The call's conversation; "" for none.
    const std::string& conversation() const { return conversation_; }

private:
    friend class RuleAutomaton;
    Ticket(std::size_t tool, std::uint64_t loop, std::string conversation)
        : tool_(tool), loop_(loop), conversation_(std::move(conversation)) {}
    std::size_t tool_;
    std::uint64_t loop_;
    std::string conversation_;
};

// The answer of admit().
struct Admission {
    CallDecision decision;
    std::optional<Ticket> ticket = {};  // Set for an allowed call.
};

// The effect of a finished call on the loop.
enum class LoopStep : std::uint8_t { none, goes_on, ended };
constexpr auto words_of(LoopStep) {
    return word_table("none", "goes on", "ended");
}

// The state of the loop, for the host.
struct LoopReport {
    // A rule that is not satisfied yet.
    struct Outstanding {
        std::size_t rule = 0;
        std::vector<std::string> tools = {};  // Tools that must still succeed, in catalog order.
        friend bool operator==(const Outstanding&, const Outstanding&) = default;
    };
    // A periodic tool that is late.
    struct Overdue {
        std::size_t rule = 0;
        std::int64_t by_ms = 0;
        friend bool operator==(const Overdue&, const Overdue&) = default;
    };
    std::uint64_t loops_ended = 0;
    bool running = false;                       // True if a loop has begun and not ended.
    bool may_exit = true;                       // True if nothing is outstanding.
    std::vector<Outstanding> outstanding = {};  // In rule order.
    // The tools with a start_constraint that have not succeeded yet.
    std::vector<std::string> start_with = {};
    std::vector<Overdue> overdue = {};  // Late calls of periodic tools.
    friend bool operator==(const LoopReport&, const LoopReport&) = default;
};

// The rules at work in one session.
class RuleAutomaton {
public:
    // Begins a session. `ledger` holds the rules and the clock; it must outlive the automaton.
    explicit RuleAutomaton(RuleLedger& ledger);

    const RuleSet& rules() const { return *rules_; }
    // Goes on under the rules that the ledger has now (RuleLedger::adopt()). What was counted stays,
    // and so does the running loop.
    void follow_ledger();

    // O(rules about the tool); a refusal costs O(rules about the tools that it names) more.
    Admission admit(const ToolCall& call);
    // Reports the end of an admitted call, once, and returns its effect on the loop.
    LoopStep finish(Ticket ticket, bool success);
    // The answer that admit() would give; counts nothing.
    CallDecision decide(const ToolCall& call) const;
    // Like decide(), with the verdict of each rule about the tool.
    CallDecision explain(const ToolCall& call) const;
    // The state of the running loop. O(rules).
    LoopReport report() const;

private:
    struct CountedFacts;
    struct Refusal;
    struct RefusalText;

    CountedFacts view_of(std::string_view conversation) const;
    // Stands for any operation: asks whether the tool could be called at all.
    static constexpr std::size_t kAnyOperation = static_cast<std::size_t>(-1);

    bool holds(const RuleCheck& check, std::size_t tool, std::size_t operation,
               const CountedFacts& view) const;
    bool all_done(const RuleCheck& check) const;
    std::vector<std::size_t> missing(const RuleCheck& check, const CountedFacts& view) const;
    std::optional<Refusal> first_refusal(std::size_t tool, std::size_t operation,
                                         const CountedFacts& view) const;
    std::size_t operation_of(std::size_t tool, std::string_view word) const;
    std::optional<std::uint32_t> waiting_start(std::size_t tool) const;
    std::optional<std::size_t> next_towards(std::vector<std::size_t> wanted,
                                            const CountedFacts& view) const;
    Error error_of(const Refusal& refusal, const ToolCall& call, std::size_t tool,
                   const CountedFacts& view) const;
    Error consent_error(const CallDecision& decision, const ToolCall& call) const;
    CallDecision decide(const ToolCall& call, std::size_t tool, const CountedFacts& view) const;
    std::string why(const RuleCheck& check, bool good, std::size_t tool,
                    const CountedFacts& view) const;
    void trace(const ToolCall& call, std::size_t tool, const CountedFacts& view,
               CallDecision& decision) const;
    std::string names_of(const std::vector<std::size_t>& tools) const;
    const std::string& tool_name(std::size_t tool) const;

    RuleLedger& ledger_;
    const RuleSet* rules_;
    ToolFacts session_;
    // The facts of calls without a conversation.
    ToolFacts unnamed_;
    // The running loop. Each tool's values are indexed by its number in the catalog.
    std::uint64_t loop_ = 0;
    bool running_ = false;
    std::int64_t begun_ = 0;
    IndexSet done_;
    std::uint64_t successes_ = 0;
    // The number of the tool's last success within the loop, counted from 1.
    std::vector<std::uint64_t> done_at_;
    std::vector<std::int64_t> started_;  // Start of its last call in the loop; -1 for none.
};

}  // namespace quire::policy
