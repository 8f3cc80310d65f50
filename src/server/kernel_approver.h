// KernelApprover: the approvals of a workspace, answered by the person in front of a session's
// client.
#pragma once

#include <cstdint>
#include <string>

#include "kernel/kernel.h"
#include "mcp/approver.h"
#include "policy/actor.h"

namespace quire::server {

class KernelApprover final : public mcp::Approver {
public:
    // `person` is whom the answers are recorded for, `session` and `asker` whose calls they are
    // for. The kernel outlives its replies.
    KernelApprover(kernel::Kernel& kernel, policy::Actor person, std::uint64_t session,
                   policy::Actor asker);

    const policy::Actor& asker() const override { return asker_; }
    Result<policy::Approval> find(const std::string& approval_id) override;
    void resolve(const std::string& approval_id, policy::Resolution with,
                 Reply<policy::Approval> reply) override;

private:
    kernel::Kernel& kernel_;
    const kernel::Caller person_;
    const policy::Actor asker_;
};

}  // namespace quire::server
