// An approval as the store keeps it: JSON, so that it can grow members.
#pragma once

#include "base/result.h"
#include "policy/approval.h"
#include "store/store.h"

namespace quire::kernel {

store::ApprovalRecord to_record(const policy::Approval& approval);
// Errors: corrupt, naming the approval.
Result<policy::Approval> from_record(const store::ApprovalRecord& record);

}  // namespace quire::kernel
