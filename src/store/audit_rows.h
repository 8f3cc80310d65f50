// The audit log as rows. Every function runs within its caller's transaction and lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/database.h"
#include "store/store.h"

namespace quire::store {

// Chains them to the last entry there is: so the order of the chain is that in which they become
// durable, and what is rolled back leaves no gap.
Result<void> append_audit(Database& database, const std::vector<std::string>& bodies);
Result<std::vector<AuditEntry>> read_audit_before(Database& database, std::uint64_t seq,
                                                  std::size_t limit);
Result<std::vector<AuditEntry>> read_audit_after(Database& database, std::uint64_t seq,
                                                 std::size_t limit);
Result<AuditHash> read_audit_origin(Database& database);

}  // namespace quire::store
