// RuleCalls: holds agents' calls to the workspace's rules for tools (docs/rules.md).
//
// A call is admitted before anything is done, and ended when it has its answer. Counts that a
// rule keeps over sessions are stored before the call's effect, so a restart does not lose them.
// If the call creates the conversation that it is counted in, the count is stored once the
// conversation exists; if it does not come to exist, nothing is kept. Consent of a person is
// requested as an approval. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "kernel/core/caller.h"
#include "policy/rule_automaton.h"
#include "policy/rule_book.h"

namespace quire::kernel {

class Kernel;

class RuleCalls {
public:
    // Reads the stored counts. Errors: those of the store; corrupt.
    static Result<std::unique_ptr<RuleCalls>> open(Kernel& kernel, policy::RuleBook book);
    RuleCalls(const RuleCalls&) = delete;
    RuleCalls& operator=(const RuleCalls&) = delete;
    ~RuleCalls();

    // The rules of an actor; null if none apply.
    std::shared_ptr<const policy::RuleSet> rules_of(const policy::Actor& actor) const;

    // All sets of rules that rules_of() may return.
    std::vector<std::shared_ptr<const policy::RuleSet>> all() const;

    // The tools that the rules may name.
    policy::ToolCatalog catalog() const;
    // Holds calls to other rules from now on. Their catalog is this one, with more behind it. What
    // was counted stays: of sessions, conversations and for ever.
    void replace(policy::RuleBook book);

    // A call as the rules see it.
    struct Facts {
        std::string tool = {};
        std::string operation = {};  // "" of a tool that declares none.
        // A block that it is about, or its conversation: what counts per conversation counts there.
        // Either may be "". Where both are, it is the tool's own; what can be no conversation's
        // name is none.
        std::string block_id = {};
        std::string conversation = {};
    };
    // The ticket of an admitted call; empty if no rules govern the actor.
    using Admitted = std::optional<policy::Ticket>;
    // Admits a call. Errors: corrupt, once for an agent of whom a stored count is damaged and counts as
    // none from now on; those of policy::CallDecision; escalation_required
    // "escalation_required" with the approval_id that waits for a person; those of requesting
    // one.
    void admit(const Caller& by, const Facts& call, Reply<Admitted> reply);
    // Why a call would be refused, or that it would need consent; none where it would be admitted.
    // Counts nothing and asks nobody.
    std::optional<Error> refusal(const Caller& by, const Facts& call);
    // Counts the call, and returns its effect on the agent's loop. Its session may be gone by
    // then.
    policy::LoopStep end(const Caller& by, Admitted admitted, bool success);
    // The outstanding duties in a session; none for an actor without rules, or one that has
    // called nothing in it.
    std::optional<policy::LoopReport> report(const Caller& by);

    // Forgets the counts of a session.
    void close_session(const Caller& by);

private:
    struct Desk;
    RuleCalls(Kernel& kernel, policy::RuleBook book);

    std::shared_ptr<Desk> desk_;
};

}  // namespace quire::kernel
