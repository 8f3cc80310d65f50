// The hash chain of the audit log: what the hash of an entry covers, and whether a log is whole.
//
// Changing, removing, inserting or moving an entry breaks the chain there, unless everything
// after it is rewritten. A rewritten log no longer contains a hash that was noted elsewhere
// (docs/audit.md). SHA-256 (FIPS 180-4). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace quire::store {

// The hash before the first entry of a workspace, computed from random bytes that only it has.
AuditHash audit_origin(std::string_view workspace);
// The hash of an entry: SHA-256 over the hash before it, its number as eight bytes, the highest
// first, and its body. O(body).
AuditHash audit_hash(const AuditHash& before, std::uint64_t seq, std::string_view body);

// Walks a log from its first entry on.
class AuditWalk {
public:
    explicit AuditWalk(const AuditHash& origin) : head_(origin) {}
    // Takes the next entry. Returns what is wrong with it, or nothing if it follows from those
    // before it. After a fault the walk stays where it is.
    std::optional<std::string> take(const AuditEntry& entry);
    std::uint64_t count() const { return count_; }
    const AuditHash& head() const {
        return head_;
    }  // The hash of the last entry; the origin before the first.

private:
    AuditHash head_;
    std::uint64_t count_ = 0;
};

// The functions of a store on a log in memory.
void append_audit(std::vector<AuditEntry>& log, const std::vector<std::string>& bodies,
                  const AuditHash& origin);
std::vector<AuditEntry> entries_before(const std::vector<AuditEntry>& log, std::uint64_t seq,
                                       std::size_t limit);
std::vector<AuditEntry> entries_after(const std::vector<AuditEntry>& log, std::uint64_t seq,
                                      std::size_t limit);

}  // namespace quire::store
