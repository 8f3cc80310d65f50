// ApprovalCalls: what people do about what agents ask for. Everybody else is refused.
//
// Replies come exactly once, from any thread, and what they say is durable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernel/core/kernel.h"
#include "policy/approval.h"

namespace quire::kernel {

class Overseer;

struct ApprovalList {
    std::vector<policy::Approval> approvals;  // The oldest first.
    std::int64_t now_ms = 0;                  // For which of them still stand.
};

class ApprovalCalls {
public:
    explicit ApprovalCalls(Kernel& kernel);

    // Lists approvals that wait or hold; with `all` also those that are over, as long as
    // it is kept. Errors: denied "permission_denied" for all but people.
    void list(const Caller& by, bool all, Reply<ApprovalList> reply);
    // Errors: the same; not_found "invalid_reference". O(log approvals).
    Result<policy::Approval> find(const Caller& by, const std::string& id);
    // Errors: the same; not_found "invalid_reference"; conflict "outdated" {approval_id} where a
    // block that is to be changed was deleted, moved or given another schema since it was asked
    // for; those of policy::resolve() (policy/approval.h) and of the store.
    void resolve(const Caller& by, std::string id, policy::Resolution with,
                 Reply<policy::Approval> reply);

private:
    std::shared_ptr<Core> core_;
    Overseer& overseer_;
};

}  // namespace quire::kernel
