// SqliteStore: the durable store, in SQLite. WAL mode, one exclusive connection,
// synchronous=FULL. docs/formats/store.md describes the file.
#pragma once

#include <optional>
#include <string>

#include "sched/guarded.h"
#include "sched/turn_lock.h"
#include "store/committer.h"
#include "store/database.h"
#include "store/last_commit.h"
#include "store/lock_file.h"
#include "store/placed_files.h"
#include "store/store.h"
#include "store/wal_file.h"

namespace quire::store {

// Reads take turns with the writer (TurnLock), so a read waits for one flush at most.
class SqliteStore final : public Store, private Backend {
public:
    // The reason for which it is open: to work, which a file whose structure is damaged is refused
    // for, or to see what can be read of it.
    enum class OpenFor { work, inspection };
    static Result<Opened> open(const std::string& path, OpenFor purpose, OpenOptions options);
    // The parts of an open store.
    struct Parts {
        LockFile lock;
        WalFile log;
        Database database;
        CommitMark mark;
        PlacedFiles files;
        LastCommit last;
        DocumentKey highest_key;
        bool log_in_use;
        OpenFor purpose;
        OpenOptions options;
    };
    explicit SqliteStore(Parts parts);
    SqliteStore(const SqliteStore&) = delete;
    SqliteStore& operator=(const SqliteStore&) = delete;
    // Writes what is queued and, after work, moves the log into the database.
    ~SqliteStore() override;

    void commit(Batch batch, Reply<void> done) override;
    bool note(std::string body) override;
    Result<std::vector<DocumentRecord>> documents() override;
    Result<StoredDocument> load(DocumentKey document) override;
    Result<DocumentMark> mark(DocumentKey document) override;
    Result<std::vector<UnitRecord>> recent_units(const std::string& actor,
                                                 std::size_t limit) override;
    Result<std::vector<KeyedRecord>> records(Table table) override;
    Result<std::optional<Bytes>> record(const RecordKey& key) override;
    Result<std::vector<AuditEntry>> audit_before(std::uint64_t seq, std::size_t limit) override;
    Result<std::vector<AuditEntry>> audit_after(std::uint64_t seq, std::size_t limit) override;
    Result<AuditHash> audit_origin() override;
    Result<std::vector<BlockRecord>> whole_blocks(const std::string& kind) override;
    Result<std::vector<TextHit>> search(const TextQuery& query) override;
    Result<std::vector<DocumentKey>> stale_texts(const std::string& kind) override;
    DocumentKey reserve_document_key() override;
    void unfence(DocumentKey document) override;
    Result<ReadableDocument> load_readable(DocumentKey document) override;
    Result<std::vector<StoreFault>> faults() override;
    Result<std::optional<TextRecord>> text(DocumentKey document) override;
    Result<void> reset_texts() override;
    Result<void> back_up(const std::string& file) override;

private:
    Result<void> write(std::span<const Batch* const> batches) override;
    bool is_final(const Error& error) const override;
    void tend() override;
    // Moves the log into the database file, with the turn held, and empties it if all of it is
    // there now. At the end of the store the log's file is cut, too.
    void checkpoint(Database::AfterCheckpoint after = Database::AfterCheckpoint::keep_file);
    // Writes the header of an empty log, with the turn held.
    void begin_log();
    // The batches are written, but into files that are gone. Has everything rescued.
    Error removed();
    // Extends the log's file ahead of need, because a commit that makes the file longer costs
    // most file systems a second flush. On the worker only.
    void make_room();

    LockFile lock_;
    WalFile log_;
    sched::TurnLock turn_;  // For the database.
    Database database_;
    CommitMark mark_;
    PlacedFiles files_;
    // These are for the worker only. `failure_`: of upkeep; the next write reports it.
    LastCommit last_;
    bool log_in_use_;        // It may hold what the database file lacks.
    const OpenFor purpose_;  // An inspection leaves the log as it is.
    OpenOptions options_;
    std::optional<Error> failure_;
    std::int64_t log_room_ = 0;  // How long the log's file is, as far as known.
    sched::Guarded<DocumentKey> highest_key_;
    std::optional<Committer> committer_;  // Last: it writes through the rest.
};

}  // namespace quire::store
