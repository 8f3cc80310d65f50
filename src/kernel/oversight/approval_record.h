// An approval as the store keeps it: JSON, so that it can grow members.
#pragma once

#include <string>

#include "base/result.h"
#include "policy/approval.h"
#include "store/store.h"

namespace quire::kernel {

// The key of an approval in the store's table of approvals.
store::RecordKey record_key(const std::string& approval_id);
// The body of the record.
std::string encode(const policy::Approval& approval);
// Errors: corrupt, naming the approval, the member that is wrong, and what it must be.
Result<policy::Approval> decode_approval(const store::KeyedRecord& record);

}  // namespace quire::kernel
