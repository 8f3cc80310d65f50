// A commit is one append to the write-ahead log and one flush. The log file is extended ahead of
// need, because a commit that changes its length would cost most file systems a second flush. The
// pages of the log are copied into the database when the store is idle or the log is long. A new
// store is completed under another name and then renamed, so its own name never shows a partial
// store.
#include "store/sqlite_store.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "store/audit_rows.h"
#include "store/migrations.h"
#include "store/records.h"
#include "store/text_index.h"

namespace quire::store {

namespace {

constexpr std::int64_t kLogStep = 4
                                  << 20;  // The log's room on the disk grows by so much at a time.
constexpr int kIdleCheckpoint = 64;       // Pages of log, from which an idle store empties it,
constexpr int kBusyCheckpoint = 4096;     // and a busy one.
constexpr std::int64_t kFrameBytes = 4096 + 24;  // The size of one page in the log.
constexpr std::int64_t kCheckedBytes =
    4 << 20;  // A larger database is not checked as a whole at the start.

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

Failure cannot_open(const std::string& path, int error) {
    return fail(
        Errc::unavailable, "store_not_writable",
        cat("the database ", path, " cannot be opened for writing (", std::strerror(error), ")"),
        {{"file", path}});
}

bool flush_directory(const std::string& path) {
    const int directory = ::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return false;
    const bool flushed = ::fsync(directory) == 0;
    ::close(directory);
    return flushed;
}

bool flush_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    const bool flushed = ::fsync(file) == 0;
    ::close(file);
    return flushed;
}

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

// An empty store, made whole under another name: whatever happens meanwhile, under its own name
// there is a store or nothing. Nothing has to be flushed in between, so that a new workspace is
// there at once.
Result<void> make_store(const std::string& path) {
    const std::string draft = path + ".new";
    // Only the holder of the workspace comes here, so a draft is one that was never finished.
    for (const char* part : {"", "-wal", "-journal"}) ::unlink((draft + part).c_str());
    const int made =
        ::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (made < 0) return cannot_open(path, errno);
    ::close(made);
    {
        Database database = TRY(Database::open(draft));
        TRY(database.execute("PRAGMA locking_mode = EXCLUSIVE"));
        TRY(database.execute("PRAGMA synchronous = OFF"));
        TRY(database.execute("PRAGMA journal_mode = OFF"));
        TRY(migrate(database));
        TRY(database.use_log());
        TRY(database.checkpoint());
    }
    if (!flush_file(draft)) return cannot_open(path, errno);
    ::unlink((draft + "-wal").c_str());
    // A log whose database somebody took away would be read as this one's.
    const std::string orphan = path + "-wal";
    if (exists(orphan) && ::rename(orphan.c_str(), (orphan + ".orphan").c_str()) != 0)
        return cannot_open(path, errno);
    if (::rename(draft.c_str(), path.c_str()) != 0 || !flush_directory(path))
        return cannot_open(path, errno);
    return {};
}

std::int64_t size_of(const std::string& path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_size : 0;
}

Result<void> quick_check(Database& database, const std::string& path) {
    Statement row = TRY(database.prepare("PRAGMA quick_check(1)"));
    if (!TRY(row.step())) return {};
    const std::string said = row.text(0);
    if (said != "ok") return damaged(path, said);
    return {};
}

Result<Database> open_database(const std::string& path, bool check) {
    Database database = TRY(Database::open(path));
    // Exclusive before the first access: then the log's index is in memory, and no other connection
    // can be made.
    TRY(database.execute("PRAGMA locking_mode = EXCLUSIVE"));
    TRY(database.use_log());
    TRY(database.execute("PRAGMA synchronous = FULL"));
    TRY(database.execute("PRAGMA temp_store = MEMORY"));
    if (check) TRY(quick_check(database, path));
    TRY(migrate(database));
    return database;
}

}  // namespace

Result<Opened> SqliteStore::open(const std::string& path) {
    LockFile lock = TRY(LockFile::take(cat(directory_of(path), "/lock")));
    const bool created = !exists(path);
    if (created) TRY(make_store(path));
    WalFile log(path);
    const bool in_use = log.is_in_use();
    // Ours is never empty, and SQLite would make one of it, and throw the log away.
    if (size_of(path) == 0)
        return damaged(path, in_use ? "it is empty, and its -wal file is not" : "it is empty");
    const bool check = in_use && size_of(path) <= kCheckedBytes;
    Database database = TRY(open_database(path, check));
    const DocumentKey highest = TRY(highest_document_key(database));
    return Opened{std::make_unique<SqliteStore>(std::move(lock), std::move(log),
                                                std::move(database), highest),
                  created};
}

Result<Opened> open_sqlite(const std::string& path) {
    return SqliteStore::open(path);
}

SqliteStore::SqliteStore(LockFile lock, WalFile log, Database database, DocumentKey highest_key)
    : lock_(std::move(lock)),
      log_(std::move(log)),
      database_(std::move(database)),
      highest_key_(highest_key) {
    committer_.emplace(static_cast<Backend&>(*this));
}

SqliteStore::~SqliteStore() {
    committer_.reset();
    const bool emptied = close_log();
    database_.reset();
    if (emptied) log_.mark_clean();
}

bool SqliteStore::close_log() {
    const sched::TurnLock::Urgent turn(turn_);
    return !failure_ && checkpoint();
}

void SqliteStore::commit(Batch batch, Reply<void> done) {
    committer_->commit(std::move(batch), std::move(done));
}

bool SqliteStore::note(std::string body) {
    return committer_->note(std::move(body));
}

Result<std::vector<AuditEntry>> SqliteStore::audit_before(std::uint64_t seq, std::size_t limit) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_audit_before(*database_, seq, limit);
}

Result<std::vector<AuditEntry>> SqliteStore::audit_after(std::uint64_t seq, std::size_t limit) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_audit_after(*database_, seq, limit);
}

Result<AuditHash> SqliteStore::audit_origin() {
    const sched::TurnLock::Urgent turn(turn_);
    return read_audit_origin(*database_);
}

Result<std::vector<DocumentRecord>> SqliteStore::documents() {
    const sched::TurnLock::Urgent turn(turn_);
    return read_documents(*database_);
}

Result<StoredDocument> SqliteStore::load(DocumentKey document) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_document(*database_, document);
}

Result<std::vector<UnitRecord>> SqliteStore::recent_units(const std::string& actor,
                                                          std::size_t limit) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_recent_units(*database_, actor, limit);
}

Result<std::vector<KeyedRecord>> SqliteStore::records(Table table) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_records(*database_, table);
}

Result<std::optional<Bytes>> SqliteStore::record(const RecordKey& key) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_record(*database_, key);
}

Result<std::vector<BlockRecord>> SqliteStore::whole_blocks(const std::string& kind) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_whole_blocks(*database_, kind);
}

Result<std::vector<TextHit>> SqliteStore::search(const TextQuery& query) {
    const sched::TurnLock::Urgent turn(turn_);
    return find_texts(*database_, query);
}

Result<std::vector<DocumentKey>> SqliteStore::stale_texts(const std::string& kind) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_stale_texts(*database_, kind);
}

DocumentKey SqliteStore::reserve_document_key() {
    return highest_key_.with([](DocumentKey& key) { return ++key; });
}

void SqliteStore::unfence(DocumentKey document) {
    committer_->unfence(document);
}

Result<void> SqliteStore::write(std::span<const Batch* const> batches) {
    if (failure_) return Failure(*failure_);
    {
        const sched::TurnLock::Patient turn(turn_);
        Result<void> written = database_->transaction([&]() -> Result<void> {
            for (const Batch* batch : batches) TRY(write_batch(*database_, *batch));
            return {};
        });
        if (!written) return written;
        if (database_->log_pages() >= kBusyCheckpoint) checkpoint();
    }
    // The batches are durable, whether or not this and the checkpoint succeed.
    make_room();
    return {};
}

bool SqliteStore::is_final(const Error& error) const {
    return failure_ || error.reason() == "store_failed";
}

void SqliteStore::tend() {
    if (failure_) return;
    if (database_->log_pages() >= kIdleCheckpoint) {
        const sched::TurnLock::Patient turn(turn_);
        checkpoint();
    }
    make_room();
}

void SqliteStore::make_room() {
    const std::int64_t used = std::int64_t{database_->log_pages()} * kFrameBytes;
    if (log_room_ - used >= kLogStep / 4) return;
    const std::int64_t wanted = (used / kLogStep + 2) * kLogStep;
    if (Result<void> grown = log_.grow(wanted); !grown) failure_ = std::move(grown).error();
    log_room_ = wanted;
}

bool SqliteStore::checkpoint() {
    Result<bool> emptied = database_->checkpoint();
    if (emptied) return *emptied;
    // With no room in the database file its log stays, and what it holds is as safe there.
    if (emptied.error().reason() != "disk_full") failure_ = std::move(emptied).error();
    return false;
}

}  // namespace quire::store
