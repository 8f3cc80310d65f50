//   begin()   log ──> spend approvals for this call ──> rules for tools ──> the door runs the call
//   end()     rules count it ──> log ──> give back what was not used
//
// The log comes first, so nothing can be spent or done that it does not know. A refusal at any step
// goes through end(), as it must undo the steps before.
#include "kernel/oversight/admission.h"

#include <utility>

#include "kernel/core/core.h"
#include "kernel/oversight/overseer.h"

namespace quire::kernel {
namespace {

// The log names every call. The caller in whose name it runs has the call only if it may ask a
// person.
Caller logged_caller(const AdmittedCall& call) {
    Caller by = call.by;
    by.call = call.logged;
    return by;
}

}  // namespace

CallEnd CallEnd::of(const Error& error) {
    const Value* const approval = error.details().find("approval_id");
    return {
        .code = std::string(name_of(error.code())),
        .reason = error.reason(),
        .approval_id = approval != nullptr && approval->is_string() ? approval->as_string() : ""};
}

Admission::Admission(Kernel& kernel, RuleCalls* rules)
    : core_(kernel.core()), overseer_(&Overseer::of(kernel)), rules_(rules) {}

std::shared_ptr<const Call> Admission::called(CallFacts& facts) const {
    return std::make_shared<const Call>(
        Call{std::move(facts.profile), std::move(facts.name), std::move(facts.arguments),
             facts.reads, overseer_->audit().number(), core_->parts().clock.steady_ms()});
}

void Admission::begin(Caller by, CallFacts facts, Reply<AdmittedCall> reply) const {
    AdmittedCall call{std::move(by), called(facts), std::nullopt};
    if (facts.asks) call.by.call = call.logged;
    // Everything that the call hands to the store comes after its entry, and is durable only with
    // it.
    Result<void> noted = core_->is_closing() ? Result<void>(Failure(kernel_ending()))
                                             : overseer_->audit().begin(logged_caller(call));
    if (!noted) return refused(std::move(call), std::move(noted).error(), std::move(reply));
    if (!facts.asks)
        return hold_to_rules(std::move(call), std::move(facts.for_rules), std::move(reply));
    const Caller caller = call.by;
    overseer_->approvals().begin(
        caller, [self = *this, call = std::move(call), what = std::move(facts.for_rules),
                 reply = std::move(reply)](Result<void> begun) mutable {
            if (!begun)
                return self.refused(std::move(call), std::move(begun).error(), std::move(reply));
            self.hold_to_rules(std::move(call), std::move(what), std::move(reply));
        });
}

void Admission::hold_to_rules(AdmittedCall call, std::optional<RuleCalls::Facts> what,
                              Reply<AdmittedCall> reply) const {
    if (rules_ == nullptr || !what) return reply(std::move(call));
    const Caller caller = call.by;
    rules_->admit(caller, *what,
                  [self = *this, call = std::move(call),
                   reply = std::move(reply)](Result<RuleCalls::Admitted> admitted) mutable {
                      if (!admitted) {
                          return self.refused(std::move(call), std::move(admitted).error(),
                                              std::move(reply));
                      }
                      call.ticket = std::move(*admitted);
                      reply(std::move(call));
                  });
}

void Admission::refused(AdmittedCall call, Error why, Reply<AdmittedCall> reply) const {
    end(std::move(call), CallEnd::of(why));
    reply(Failure(std::move(why)));
}

// Rules count before the log ends the call, and approvals go back last.
policy::LoopStep Admission::end(AdmittedCall call, const CallEnd& how) const {
    policy::LoopStep step = policy::LoopStep::none;
    if (call.ticket && rules_ != nullptr)
        step = rules_->end(call.by, std::move(call.ticket), !how.is_refused() && !how.failed);
    overseer_->audit().end(logged_caller(call), how);
    if (call.by.call != nullptr) overseer_->approvals().end(call.by, how.is_undone());
    return step;
}

void Admission::refuse(Caller by, CallFacts facts, const Error& why) const {
    end({std::move(by), called(facts), std::nullopt}, CallEnd::of(why));
}

}  // namespace quire::kernel
