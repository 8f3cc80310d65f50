#include "server/kernel_approver.h"

#include <utility>

#include "kernel/approval_calls.h"

namespace quire::server {

KernelApprover::KernelApprover(kernel::Kernel& kernel, policy::Actor person, std::uint64_t session,
                               policy::Actor asker)
    : kernel_(kernel), person_{std::move(person), session, {}}, asker_(std::move(asker)) {}

Result<policy::Approval> KernelApprover::find(const std::string& approval_id) {
    return kernel::ApprovalCalls(kernel_).find(person_, approval_id);
}

void KernelApprover::resolve(const std::string& approval_id, policy::Resolution with,
                             Reply<policy::Approval> reply) {
    with.elicited_in = person_.session;
    kernel::ApprovalCalls(kernel_).resolve(person_, approval_id, std::move(with), std::move(reply));
}

}  // namespace quire::server
