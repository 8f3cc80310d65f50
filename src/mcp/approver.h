// Approver: who answers approvals for the person in front of a client.
#pragma once

#include <string>

#include "base/function.h"
#include "base/result.h"
#include "policy/approval.h"

namespace quire::mcp {

// Any thread.
class Approver {
public:
    virtual ~Approver() = default;
    // Whose calls the approvals are for.
    virtual const policy::Actor& asker() const = 0;
    // Errors: those of kernel::ApprovalCalls::find().
    virtual Result<policy::Approval> find(const std::string& approval_id) = 0;
    // In the person's name. `with` need not say by which session. Errors: those of
    // kernel::ApprovalCalls::resolve(). The reply may come after this is gone.
    virtual void resolve(const std::string& approval_id, policy::Resolution with,
                         Reply<policy::Approval> reply) = 0;
};

}  // namespace quire::mcp
