// The audit log as rows of a table. Every function runs within its caller's transaction and lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/database.h"
#include "store/store.h"

namespace quire::store {

// Chains the bodies to the last entry there is. So the order of the chain is the order in which
// entries become durable, and a rolled-back transaction leaves no gap. O(bodies).
Result<void> append_audit(Database& database, const std::vector<std::string>& bodies);
// At most `limit` entries before `seq`, newest first; or after it, oldest first. They are not
// checked.
Result<std::vector<AuditEntry>> read_audit_before(Database& database, std::uint64_t seq,
                                                  std::size_t limit);
Result<std::vector<AuditEntry>> read_audit_after(Database& database, std::uint64_t seq,
                                                 std::size_t limit);
Result<AuditHash> read_audit_origin(Database& database);
// The number and the hash of the last entry, without its body; 0 and the origin before the first.
Result<AuditEntry> read_audit_end(Database& database);

}  // namespace quire::store
