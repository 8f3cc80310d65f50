// ApprovalCalls: lists and answers approvals, for people only. All other callers are refused.
//
// Replies come exactly once, from any thread, and what they say is durable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "kernel/core/caller.h"
#include "policy/approval.h"

namespace quire::kernel {

class Core;
class Kernel;
class Overseer;

// Approvals, and the time that decides which of them still hold.
struct ApprovalList {
    std::vector<policy::Approval> approvals;  // The oldest first.
    std::int64_t now_ms = 0;                  // For which of them still stand.
    std::vector<std::string> damaged = {};    // The ids of those whose records are damaged.
};

class ApprovalCalls {
public:
    explicit ApprovalCalls(Kernel& kernel);

    // Lists approvals that wait or hold; with `all` also settled ones, as long as they are kept.
    // Errors: denied "permission_denied" for callers that are no people.
    void list(const Caller& by, bool all, Reply<ApprovalList> reply);
    // Approvals that wait for an answer, the oldest first: all of them for people, and for the others
    // those that they asked for.
    std::vector<policy::Approval> waiting(const Caller& by) const;
    // One approval. Errors: denied "permission_denied"; not_found "invalid_reference". O(log
    // approvals).
    Result<policy::Approval> find(const Caller& by, const std::string& id);
    // Answers, or revokes, an approval. Errors: denied "permission_denied"; not_found
    // "invalid_reference"; conflict "outdated" {approval_id} if the block was deleted, moved or
    // given another schema since the request, or if files or rules that a command's changes depend on have
    // changed; those of policy::resolve() (policy/approval.h) and
    // of the store.
    void resolve(const Caller& by, std::string id, policy::Resolution with,
                 Reply<policy::Approval> reply);

private:
    std::shared_ptr<Core> core_;
    Overseer& overseer_;
};

}  // namespace quire::kernel
