// RuleAutomaton: what an agent's rules say to each call of one of its sessions.
//
// A call is asked for with admit(), which counts it where it may begin; once it has run, finish()
// says whether it succeeded. A call that runs counts as called, and as succeeded only when it has.
// A *loop* is what runs from a first call until a tool that ends it has succeeded; the call after
// that begins the next. Nothing runs, waits or asks a person here. Agents alone are governed.
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

#include "base/result.h"
#include "policy/actor.h"
#include "policy/permission.h"
#include "policy/rule_ledger.h"
#include "policy/rule_set.h"

namespace quire::policy {

// Whether rules for tools are about this actor at all.
inline bool is_governed(const Actor& actor) {
    return actor.kind == ActorKind::agent;
}

struct ToolCall {
    std::string_view tool;               // As published.
    std::string_view operation = {};     // "" for a tool that declares none.
    std::string_view conversation = {};  // "" for none: such calls of a session are as in one
                                         // conversation of its own.
    bool consented = false;              // A person has agreed to all that escalated.
};

// One rule that was looked at, for a person to read.
struct RuleLook {
    enum class Outcome : std::uint8_t { holds, refuses, asks, replaced };
    std::size_t rule = 0;
    Outcome outcome = Outcome::holds;
    std::string why;  // One sentence.
};
std::string_view name_of(RuleLook::Outcome outcome);

struct CallDecision {
    Verdict verdict = Verdict::allow;
    // Of deny, and of escalate where no approval is there to be asked for. Each message says what
    // is wrong, which rule, and what would work next. Details: {tool, operation?, rule: {type,
    // tool, line?}} and what is named below. Errors: denied "operation_not_allowed" {allowed},
    // "start_constraints_not_met" {missing}, "prerequisites_not_met" {missing},
    // "max_calls_exceeded" {limit, calls, per}, "exclusive_group_violation" {called},
    // "ordering_violation" {missing}, with `next` where a call is known that would be admitted;
    // unavailable "cooldown_active" {retry_after_ms}; escalation_required "escalation_required"
    // {scopes}; not_found "unknown_tool" for one that the catalog has not.
    std::optional<Error> error = {};
    std::optional<std::size_t> rule = {};  // Which refuses, or asks first.
    std::vector<std::size_t> asks = {};    // Of escalate: the rules of requires_consent, in order.
    std::vector<RuleLook> trace = {};      // Of explain() alone, in the order of the rules.
};

// A call that was admitted.
class Ticket {
public:
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&&) noexcept = default;
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    ~Ticket() = default;
    // Of the call; "" for none.
    const std::string& conversation() const { return conversation_; }

private:
    friend class RuleAutomaton;
    Ticket(std::size_t tool, std::uint64_t loop, std::string conversation)
        : tool_(tool), loop_(loop), conversation_(std::move(conversation)) {}
    std::size_t tool_;
    std::uint64_t loop_;
    std::string conversation_;
};

struct Admission {
    CallDecision decision;
    std::optional<Ticket> ticket = {};  // Of an allowed call.
};

// What a call that succeeded means for the loop.
enum class LoopStep : std::uint8_t { none, goes_on, ended };

struct LoopReport {
    struct Outstanding {
        std::size_t rule = 0;
        std::vector<std::string> tools = {};  // Which have yet to succeed, as the catalog orders.
        friend bool operator==(const Outstanding&, const Outstanding&) = default;
    };
    struct Overdue {
        std::size_t rule = 0;
        std::int64_t by_ms = 0;
        friend bool operator==(const Overdue&, const Overdue&) = default;
    };
    std::uint64_t loops_ended = 0;
    bool running = false;                       // Whether a loop has begun and not ended.
    bool may_exit = true;                       // Nothing is outstanding.
    std::vector<Outstanding> outstanding = {};  // In the order of the rules.
    std::vector<std::string> start_with = {};   // What start_constraint still waits for.
    std::vector<Overdue> overdue = {};          // Of periodic.
    friend bool operator==(const LoopReport&, const LoopReport&) = default;
};

class RuleAutomaton {
public:
    // A new session. `ledger`, which has the rules and the clock, outlives it.
    explicit RuleAutomaton(RuleLedger& ledger);

    const RuleSet& rules() const { return rules_; }

    // O(rules about the tool); a refusal also O(rules about the tools it names).
    Admission admit(const ToolCall& call);
    LoopStep finish(Ticket ticket, bool success);
    // What admit() would say, and nothing is counted.
    CallDecision decide(const ToolCall& call) const;
    // The same, with a look at each rule about the tool.
    CallDecision explain(const ToolCall& call) const;
    LoopReport report() const;

private:
    struct View;
    struct Refusing;
    struct Wording;

    View view_of(std::string_view conversation) const;
    // For a look at whether a call with any of the operations would be admitted.
    static constexpr std::size_t kAnyOperation = static_cast<std::size_t>(-1);

    bool holds(const RuleCheck& check, std::size_t tool, std::size_t operation,
               const View& view) const;
    bool all_done(const RuleCheck& check) const;
    std::vector<std::size_t> missing(const RuleCheck& check, const View& view) const;
    std::optional<Refusing> first_refusal(std::size_t tool, std::size_t operation,
                                          const View& view) const;
    std::size_t operation_of(std::size_t tool, std::string_view word) const;
    std::optional<std::uint32_t> waiting_start(std::size_t tool) const;
    std::optional<std::size_t> next_towards(std::vector<std::size_t> wanted,
                                            const View& view) const;
    Error error_of(const Refusing& refusing, const ToolCall& call, std::size_t tool,
                   const View& view) const;
    Error consent_error(const CallDecision& decision, const ToolCall& call) const;
    CallDecision decide(const ToolCall& call, std::size_t tool, const View& view) const;
    std::string why(const RuleCheck& check, bool good, std::size_t tool, const View& view) const;
    void trace(const ToolCall& call, std::size_t tool, const View& view,
               CallDecision& decision) const;
    std::string names_of(const std::vector<std::size_t>& tools) const;
    const std::string& tool_name(std::size_t tool) const;

    RuleLedger& ledger_;
    const RuleSet& rules_;
    ToolFacts session_;
    ToolFacts unnamed_;  // Of the calls in no conversation.
    // Of the loop.
    std::uint64_t loop_ = 0;
    bool running_ = false;
    std::int64_t begun_ = 0;
    IndexSet done_;
    std::uint64_t successes_ = 0;
    std::vector<std::uint64_t> done_at_;  // Which success of the loop was the tool's last; from 1.
    std::vector<std::int64_t> started_;   // In the loop; -1 for never.
};

}  // namespace quire::policy
