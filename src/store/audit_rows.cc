// The audit log has no seals: its chain of hashes says more. Rows are read as they are, and whether
// they fit is the walk's question (audit_chain.h), so that a damaged log can still be looked at.
// Reading backwards or forwards costs O(log n + limit).

#include "store/audit_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/audit_chain.h"

namespace quire::store {
namespace {

constexpr auto kMostRows = std::numeric_limits<std::int64_t>::max();

// One that was damaged does not fit, whatever its length is.
AuditHash hash_of(const Bytes& bytes) {
    AuditHash hash = {};
    std::copy_n(bytes.begin(), std::min(bytes.size(), hash.size()), hash.begin());
    return hash;
}

std::int64_t bounded(std::uint64_t number) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(number, kMostRows));
}

Result<std::vector<AuditEntry>> entries_of(Statement rows) {
    std::vector<AuditEntry> entries;
    while (TRY(rows.step())) {
        // The first is 1. What somebody put before it is entry 0.
        const auto seq = static_cast<std::uint64_t>(std::max<std::int64_t>(rows.integer(0), 0));
        entries.push_back({seq, rows.text(1), hash_of(rows.blob(2))});
    }
    return entries;
}

}  // namespace

Result<void> append_audit(Database& database, const std::vector<std::string>& bodies) {
    if (bodies.empty()) return {};
    AuditEntry last = TRY(read_audit_end(database));
    for (const std::string& body : bodies) {
        last.hash = audit_hash(last.hash, ++last.seq, body);
        const Bytes bytes(last.hash.begin(), last.hash.end());
        Statement row = TRY(database.prepare("INSERT INTO audit(seq, body, hash) VALUES(?, ?, ?)"));
        TRY(row.bind(bounded(last.seq)).bind(body).bind(bytes).run());
    }
    return {};
}

Result<std::vector<AuditEntry>> read_audit_before(Database& database, std::uint64_t seq,
                                                  std::size_t limit) {
    Statement rows = TRY(database.prepare(
        "SELECT seq, body, hash FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT ?"));
    rows.bind(bounded(seq)).bind(bounded(limit));
    return entries_of(std::move(rows));
}

Result<std::vector<AuditEntry>> read_audit_after(Database& database, std::uint64_t seq,
                                                 std::size_t limit) {
    Statement rows = TRY(
        database.prepare("SELECT seq, body, hash FROM audit WHERE seq > ? ORDER BY seq LIMIT ?"));
    rows.bind(bounded(seq)).bind(bounded(limit));
    return entries_of(std::move(rows));
}

Result<AuditHash> read_audit_origin(Database& database) {
    Statement row = TRY(database.prepare("SELECT origin FROM audit_origin"));
    // Without one the chain does not fit its first entry, which says as much.
    const Bytes own = TRY(row.step()) ? row.blob(0) : Bytes();
    return audit_origin({reinterpret_cast<const char*>(own.data()), own.size()});
}

Result<AuditEntry> read_audit_end(Database& database) {
    Statement row = TRY(database.prepare("SELECT seq, hash FROM audit ORDER BY seq DESC"));
    if (!TRY(row.step())) return AuditEntry{0, {}, TRY(read_audit_origin(database))};
    const auto seq = static_cast<std::uint64_t>(std::max<std::int64_t>(row.integer(0), 0));
    return AuditEntry{seq, {}, hash_of(row.blob(1))};
}

}  // namespace quire::store
