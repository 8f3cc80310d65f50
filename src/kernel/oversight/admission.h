// Admission: the steps that every call takes, whichever door it came through.
//
// A call is logged, may spend an approval that is for it alone, and is admitted by the rules for
// tools. Then its door runs it. When the call has its answer it ends: the rules count it, the log
// records its outcome, and an approval is given back if nothing was done. Tools, resources and
// commands all take these steps. A call that is refused halfway is ended here. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/function.h"
#include "base/result.h"
#include "kernel/core/caller.h"
#include "kernel/oversight/rule_calls.h"
#include "kernel/oversight/touched.h"

namespace quire::kernel {

class Core;
class Kernel;
class Overseer;

// Facts about a call, for the log and for the rules.
struct CallFacts {
    std::string profile = {};  // "" for what no tool does.
    std::string name = {};     // The name in the log: a tool's published name, or "resources/read".
    Value arguments = {};
    bool reads = false;  // It changes nothing, whatever comes of it.
    // The call as the rules count it; none where they are not about it.
    std::optional<RuleCalls::Facts> for_rules = {};
    // A call that needs a person's approval asks for one; the others are refused.
    bool asks = false;
};

// The outcome of a call.
struct CallEnd {
    std::string code = {};  // The refusal's; "" for a call that was done.
    std::string reason = {};
    std::string approval_id = {};  // It waits for a person, where the call was escalated.
    Touched touched = {};
    bool failed = false;  // Another program's tool says that it failed, so rules count no success.

    bool is_refused() const { return !code.empty(); }
    // Returns true if it is certain that the call did nothing; then an approval for it alone is
    // given back.
    bool is_undone() const { return is_refused() && reason != "fate_unknown"; }
    static CallEnd of(const Error& error);
    template <class T>
    static CallEnd of(const Result<T>& result) {
        return result ? CallEnd() : of(result.error());
    }
};

// A call under way.
// Must be handed to Admission::end() exactly once; until then it may hold approvals and counts.
struct AdmittedCall {
    Caller by;                           // The caller in whose name it runs.
    std::shared_ptr<const Call> logged;  // The call that the log names.
    RuleCalls::Admitted ticket;
};

class Admission {
public:
    // `rules` may be null; then no rules for tools apply. Kernel and rules outlive every call.
    explicit Admission(Kernel& kernel, RuleCalls* rules = nullptr);

    RuleCalls* rules() const { return rules_; }

    // Takes the steps before the call. Errors: unavailable "kernel_ending", or "disk_full" if the
    // log has no room; those of the store and of RuleCalls::admit(). After an error the call has
    // ended.
    void begin(Caller by, CallFacts facts, Reply<AdmittedCall> reply) const;
    // Ends the call; call it once, before the call is answered. Returns the effect on the agent's
    // loop.
    policy::LoopStep end(AdmittedCall call, const CallEnd& how) const;
    // Logs a call that is refused before it begins. It has changed nothing.
    void refuse(Caller by, CallFacts facts, const Error& why) const;

    // Begins the call, runs work(by, reply), and ends the call with the result that `work`
    // replies.
    template <class T, class Work>
    void run(Caller by, CallFacts facts, Reply<T> reply, Work work) const {
        begin(std::move(by), std::move(facts),
              [self = *this, reply = std::move(reply),
               work = std::move(work)](Result<AdmittedCall> admitted) mutable {
                  if (!admitted) return reply(Failure(std::move(admitted).error()));
                  const Caller caller = admitted->by;
                  work(caller, Reply<T>([self, call = std::move(*admitted),
                                         reply = std::move(reply)](Result<T> result) mutable {
                           self.end(std::move(call), CallEnd::of(result));
                           reply(std::move(result));
                       }));
              });
    }

private:
    std::shared_ptr<const Call> called(CallFacts& facts) const;
    void hold_to_rules(AdmittedCall call, std::optional<RuleCalls::Facts> what,
                       Reply<AdmittedCall> reply) const;
    void refused(AdmittedCall call, Error why, Reply<AdmittedCall> reply) const;

    std::shared_ptr<Core> core_;  // It keeps the overseer.
    Overseer* overseer_;
    RuleCalls* rules_;
};

}  // namespace quire::kernel
