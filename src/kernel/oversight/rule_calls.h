// RuleCalls: agents' calls, held to the workspace's rules for tools (docs/rules.md).
//
// A call is admitted before anything is done, and ended when it has its answer. What a rule counts
// over sessions is in the store before what the call does, and there again after a restart; of a
// conversation that is not there yet once the call has made it, and where it has not, nothing
// stays. What needs a person's consent is asked for as an approval. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/core/kernel.h"
#include "policy/rule_automaton.h"
#include "policy/rule_book.h"

namespace quire::kernel {

class RuleCalls {
public:
    // Errors: those of the store; corrupt.
    static Result<std::unique_ptr<RuleCalls>> open(Kernel& kernel, policy::RuleBook book);
    RuleCalls(const RuleCalls&) = delete;
    RuleCalls& operator=(const RuleCalls&) = delete;
    ~RuleCalls();

    // Null for an actor that rules for tools are not about.
    std::shared_ptr<const policy::RuleSet> rules_of(const policy::Actor& actor) const;

    // Each set of rules that rules_of() may give.
    std::vector<std::shared_ptr<const policy::RuleSet>> all() const;

    struct Facts {
        std::string tool = {};
        std::string operation = {};  // "" of a tool that declares none.
        // A block that it is about, or its conversation: what counts per conversation counts there.
        // Either may be "". Where both are, it is the tool's own; what can be no conversation's
        // name is none.
        std::string block_id = {};
        std::string conversation = {};
    };
    // Nothing where no rules govern the actor.
    using Admitted = std::optional<policy::Ticket>;
    // Errors: those of policy::CallDecision; escalation_required "escalation_required" with the
    // approval_id that waits for a person; those of asking for one.
    void admit(const Caller& by, const Facts& call, Reply<Admitted> reply);
    // Returns what the call's end means for the agent's loop. Its session may be gone by then.
    policy::LoopStep end(const Caller& by, Admitted admitted, bool success);
    // The duties outstanding in a session; none for an actor that is not governed, or that has
    // called nothing in it.
    std::optional<policy::LoopReport> report(const Caller& by);

    void close_session(const Caller& by);

private:
    struct Desk;
    RuleCalls(Kernel& kernel, policy::RuleBook book);

    std::shared_ptr<Desk> desk_;
};

}  // namespace quire::kernel
