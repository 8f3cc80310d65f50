// An approval is found by the digest of the call (policy/call_digest.h). A command's call says only
// what runs, and the same command may change something else tomorrow. So the digest of its effects
// becomes one more argument of the call, and a yes covers these effects alone.
#include "kernel/commands/call_approval.h"

#include <future>
#include <utility>

#include "kernel/oversight/overseer.h"
#include "policy/call_digest.h"

namespace quire::kernel {
namespace {

// Spends the caller's approvals for exactly this call. Errors: those of the store.
// An approval is spent on the disk before the work begins, so a kill cannot let it count twice.
Result<void> spend_approvals(Approvals& approvals, const Caller& by) {
    std::promise<Result<void>> begun;
    approvals.begin(by, [&](Result<void> done) { begun.set_value(std::move(done)); });
    return begun.get_future().get();
}

}  // namespace

std::shared_ptr<const Call> with_effects(const Call& call, const std::string& effects) {
    Call out = call;
    out.arguments.as_map().set("effects", effects);
    return std::make_shared<const Call>(std::move(out));
}

std::string digest_of(const Call& call) {
    return policy::call_digest(call.profile, call.tool, call.arguments);
}

Result<void> require_approval(Kernel& kernel, const Caller& by, const std::string& effects,
                              const policy::Target& target, policy::Operation operation,
                              Function<Error()> refusal) {
    Overseer& overseer = Overseer::of(kernel);
    Caller asking = by;
    if (by.call != nullptr) asking.call = with_effects(*by.call, effects);
    // approved() sees what begin() has spent for this call; end() gives it back if it is not
    // enough.
    TRY(spend_approvals(overseer.approvals(), asking));
    const bool is_allowed = overseer.approved(asking, target).has(operation);
    overseer.approvals().end(asking, !is_allowed);
    if (is_allowed) return {};
    std::promise<Error> told;
    overseer.ask(asking, target, refusal(), [&](Error why) { told.set_value(std::move(why)); });
    return Failure(told.get_future().get());
}

GateResult commit_approved(Kernel& kernel, const Caller& by, CommandGate gate,
                           const std::string& effects, shell::Enforcement level) {
    if (by.call == nullptr || effects.empty()) return gate.commit(by, level);
    Caller approved = by;
    approved.call = with_effects(*by.call, effects);
    Approvals& approvals = Overseer::of(kernel).approvals();
    if (Result<void> done = spend_approvals(approvals, approved); !done) {
        GateResult out = gate.judged();
        out.failure = std::move(done).error();
        return out;
    }
    GateResult out = gate.commit(approved, level);
    approvals.end(approved, out.failure.has_value());
    return out;
}

}  // namespace quire::kernel
