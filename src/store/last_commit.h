// LastCommit: how far a store has come, in its database and in a file beside it.
//
// Every transaction counts itself in the table `last_commit`. Once it is durable, and before it is
// acknowledged, the same is written into the file `last-commit` (CommitMark), which is not flushed.
// So the file may lag behind the database after a power loss, and never leads. A database that
// shows less than the file has lost what was acknowledged: SQLite takes a damaged frame of its log
// for the log's end, and says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "store/database.h"
#include "store/store.h"

namespace quire::store {

struct LastCommit {
    std::uint64_t number = 0;     // From 1 on; 0 before the first.
    std::uint64_t hash = 0;       // Over the hash before and every record that was written.
    std::uint64_t audit_seq = 0;  // The last entry of the audit log; 0 before the first.
    AuditHash audit_head = {};    // Its hash; the origin before the first.
    friend bool operator==(const LastCommit&, const LastCommit&) = default;
};

// Reads what the database says; number 0 for one without the table. Errors: corrupt "corrupt".
Result<LastCommit> read_last_commit(Database& database);
// Writes the row.
Result<void> store_last_commit(Database& database, const LastCommit& last);
// Counts the transaction that runs, as the last of its statements. O(1).
Result<LastCommit> count_commit(Database& database, const LastCommit& before);

// The commits that `named` knows and the database, which is at `found`, does not have: the numbers
// of the first and the last of them. None when nothing is missing. A commit of the same number
// with another hash, and an audit log without the entry that `named` ends with, are another
// history: then the commit `named` itself is missing.
struct MissingCommits {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};
Result<std::optional<MissingCommits>> missing_commits(Database& database, const LastCommit& named,
                                                      const LastCommit& found);

// The file. It is one sector long and overwritten in place: a write costs no flush and no block.
class CommitMark {
public:
    // Opens the file `path`, or makes it. A mark that cannot be written is a mark that lags, and
    // no reason to refuse the store; it is still read.
    explicit CommitMark(const std::string& path);
    // Reads a file that nobody writes any more; none where it cannot be read.
    static std::optional<LastCommit> read_at(const std::string& path);

    // Reads what was written last; none in a new file. Errors: corrupt "corrupt" for anything else.
    Result<std::optional<LastCommit>> read() const;
    void write(const LastCommit& last) const;

private:
    CommitMark() = default;

    Fd file_;
};

}  // namespace quire::store
