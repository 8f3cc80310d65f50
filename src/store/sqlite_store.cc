// A commit is one append to the write-ahead log and one flush. The log file is extended ahead of
// need, because a commit that changes its length would cost most file systems a second flush. The
// pages of the log are copied into the database when the store is idle or the log is long, and the
// log is emptied. A new store is completed under another name and then renamed, so its own name
// never shows a partial store.
//
// Between the flush and the answers stand two checks of the world outside. The files must still be
// the ones at their paths (PlacedFiles), or everything is rescued and nothing acknowledged any
// more. And the file last-commit learns of the commit (CommitMark), so that the next opening
// notices when its log does not lead as far: then the log is kept aside, before anything is
// written, and the opening says what is missing.
#include "store/sqlite_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/durable.h"
#include "base/file_rights.h"
#include "store/audit_rows.h"
#include "store/draft_file.h"
#include "store/lost_commits.h"
#include "store/migrations.h"
#include "store/readable_rows.h"
#include "store/records.h"
#include "store/text_index.h"

namespace quire::store {

namespace {

// The log's room on the disk grows by as much as is used of it, within these bounds: an empty store
// is small, and a busy one grows rarely.
constexpr std::int64_t kLeastLogStep = 256 << 10;
constexpr std::int64_t kMostLogStep = 4 << 20;
constexpr int kBusyCheckpoint = 4096;  // Pages of log, from which a busy store empties it.
constexpr std::int64_t kFrameBytes = 4096 + 24;  // The size of one page in the log.
constexpr std::int64_t kCheckedBytes =
    4 << 20;  // A larger database is not checked as a whole at the start.

// SQLite would open a database that it may not write, and fail at its first write without a reason.
// Errors: unavailable "store_not_writable" {file}.
Result<void> check_rights(const std::string& path) {
    for (const std::string& file : {path, path + "-wal"}) {
        const std::string missing = missing_rights(file);
        if (missing.empty()) continue;
        return fail(Errc::unavailable, "store_not_writable",
                    cat("the store's file ", file, " may not be read and written: ", missing),
                    {{"file", file}});
    }
    return {};
}

Failure cannot_open(const std::string& path, int error) {
    return fail(
        Errc::unavailable, "store_not_writable",
        cat("the database ", path, " cannot be opened for writing (", std::strerror(error), ")"),
        {{"file", path}});
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
        TRY(migrate(database, 0));
        TRY(database.use_log());
        TRY(database.checkpoint());
    }
    if (!flush_file(draft)) return cannot_open(path, errno);
    ::unlink((draft + "-wal").c_str());
    // A log whose database somebody took away would be read as this one's.
    const std::string orphan = path + "-wal";
    if (exists(orphan) && ::rename(orphan.c_str(), (orphan + ".orphan").c_str()) != 0)
        return cannot_open(path, errno);
    if (::rename(draft.c_str(), path.c_str()) != 0 || !sync_directory_of(path))
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

// Opens the database as it is on the disk: nothing is written yet.
Result<Database> open_database(const std::string& path, bool check) {
    Database database = TRY(Database::open(path));
    // Exclusive before the first access: then the log's index is in memory, and no other connection
    // can be made.
    TRY(database.execute("PRAGMA locking_mode = EXCLUSIVE"));
    TRY(database.use_log());
    TRY(database.execute("PRAGMA synchronous = FULL"));
    TRY(database.execute("PRAGMA temp_store = MEMORY"));
    if (check) TRY(quick_check(database, path));
    return database;
}

// Finds out whether commits are missing, and then keeps the log aside. Where the store's own count
// cannot be read, the mark's is as good: the damage is met by whoever reads what it hit.
Result<LastCommit> recover(Database& database, const std::string& path, const CommitMark& mark,
                           Opened& opened) {
    Result<std::optional<LastCommit>> read = mark.read();
    opened.has_bad_mark = !read;
    const std::optional<LastCommit> named = read ? *read : std::nullopt;
    const Result<LastCommit> found = read_last_commit(database);
    if (!found && found.error().code() != Errc::corrupt) return Failure(found.error());
    if (!found) return named.value_or(LastCommit());
    if (!named) return *found;
    const auto missing = TRY(missing_commits(database, *named, *found));
    if (missing) opened.lost = TRY(keep_log_aside(path, *missing));
    return *found;
}

// The files that must stay where they are.
Result<PlacedFiles> placed_files(const std::string& lock, const std::string& path,
                                 const WalFile& log) {
    PlacedFiles files;
    for (const std::string& file : {lock, path, log.path()}) TRY(files.add(file));
    return files;
}

// Somebody waits for the answer to the batch. Nobody does for notes alone: then the next call is to
// hear what happened to its store.
bool is_awaited(const Batch* batch) {
    return !documents_of(*batch).empty() || !batch->records.empty() || !batch->texts.empty();
}

}  // namespace

Result<Opened> SqliteStore::open(const std::string& path, OpenFor purpose, OpenOptions options) {
    const std::string lock_path = cat(directory_of(path), "/lock");
    LockFile lock = TRY(LockFile::take(lock_path));
    TRY(check_rights(path));
    Opened opened;
    opened.created = !exists(path);
    if (opened.created) TRY(make_store(path));
    const bool in_use = WalFile::is_in_use(path);
    // Ours is never empty, and SQLite would make one of it, and throw the log away.
    if (size_of(path) == 0)
        return damaged(path, in_use ? "it is empty, and its -wal file is not" : "it is empty");
    const bool check = purpose == OpenFor::work && in_use && size_of(path) <= kCheckedBytes;
    Database database = TRY(open_database(path, check));
    const std::int64_t version = TRY(check_version(database));
    CommitMark mark(cat(directory_of(path), "/", kLastCommitFile));
    const LastCommit last = TRY(recover(database, path, mark, opened));
    TRY(migrate(database, version));
    mark.write(last);
    const bool written = in_use || database.log_pages() > 0;  // migrate() may have written.
    const DocumentKey highest = TRY(highest_document_key(database));
    WalFile log(path);
    PlacedFiles files = TRY(placed_files(lock_path, path, log));
    opened.store = std::make_unique<SqliteStore>(
        Parts{std::move(lock), std::move(log), std::move(database), std::move(mark),
              std::move(files), last, highest, written, purpose, std::move(options)});
    return opened;
}

Result<Opened> open_sqlite(const std::string& path, OpenOptions options) {
    return SqliteStore::open(path, SqliteStore::OpenFor::work, std::move(options));
}

Result<Opened> inspect_sqlite(const std::string& path) {
    return SqliteStore::open(path, SqliteStore::OpenFor::inspection, {});
}

SqliteStore::SqliteStore(Parts parts)
    : lock_(std::move(parts.lock)),
      log_(std::move(parts.log)),
      database_(std::move(parts.database)),
      mark_(std::move(parts.mark)),
      files_(std::move(parts.files)),
      last_(parts.last),
      log_in_use_(parts.log_in_use),
      purpose_(parts.purpose),
      options_(std::move(parts.options)),
      highest_key_(parts.highest_key) {
    committer_.emplace(static_cast<Backend&>(*this));
}

SqliteStore::~SqliteStore() {
    committer_.reset();
    // Nobody was told so far, if nothing was to be acknowledged since.
    if (!failure_ && purpose_ == OpenFor::work && !files_.are_in_place()) failure_ = removed();
    const sched::TurnLock::Urgent turn(turn_);
    if (failure_ || purpose_ == OpenFor::inspection) return;
    checkpoint(Database::AfterCheckpoint::cut_file);
}

void SqliteStore::commit(Batch batch, Reply<void> done) {
    if (!options_.keeps_audit) batch.audit.clear();
    committer_->commit(std::move(batch), std::move(done));
}

bool SqliteStore::note(std::string body) {
    return !options_.keeps_audit || committer_->note(std::move(body));
}

Result<std::vector<AuditEntry>> SqliteStore::audit_before(std::uint64_t seq, std::size_t limit) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_audit_before(database_, seq, limit);
}

Result<std::vector<AuditEntry>> SqliteStore::audit_after(std::uint64_t seq, std::size_t limit) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_audit_after(database_, seq, limit);
}

Result<AuditHash> SqliteStore::audit_origin() {
    const sched::TurnLock::Urgent turn(turn_);
    return read_audit_origin(database_);
}

Result<std::vector<DocumentRecord>> SqliteStore::documents() {
    const sched::TurnLock::Urgent turn(turn_);
    return read_documents(database_);
}

Result<StoredDocument> SqliteStore::load(DocumentKey document) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_document(database_, document);
}

Result<std::vector<UnitRecord>> SqliteStore::recent_units(const std::string& actor,
                                                          std::size_t limit) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_recent_units(database_, actor, limit);
}

Result<std::vector<KeyedRecord>> SqliteStore::records(Table table) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_records(database_, table);
}

Result<std::optional<Bytes>> SqliteStore::record(const RecordKey& key) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_record(database_, key);
}

Result<DocumentMark> SqliteStore::mark(DocumentKey document) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_mark(database_, document);
}

Result<std::vector<BlockRecord>> SqliteStore::whole_blocks(const std::string& kind) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_whole_blocks(database_, kind);
}

Result<std::vector<TextHit>> SqliteStore::search(const TextQuery& query) {
    const sched::TurnLock::Urgent turn(turn_);
    return find_texts(database_, query);
}

Result<std::vector<DocumentKey>> SqliteStore::stale_texts(const std::string& kind) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_stale_texts(database_, kind);
}

DocumentKey SqliteStore::reserve_document_key() {
    return highest_key_.with([](DocumentKey& key) { return ++key; });
}

void SqliteStore::unfence(DocumentKey document) {
    committer_->unfence(document);
}

Result<ReadableDocument> SqliteStore::load_readable(DocumentKey document) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_readable_document(database_, document);
}

Result<std::vector<StoreFault>> SqliteStore::faults() {
    const sched::TurnLock::Urgent turn(turn_);
    return read_faults(database_);
}

Result<std::optional<TextRecord>> SqliteStore::text(DocumentKey document) {
    const sched::TurnLock::Urgent turn(turn_);
    return read_text(database_, document);
}

Result<void> SqliteStore::reset_texts() {
    const sched::TurnLock::Urgent turn(turn_);
    return store::reset_texts(database_);
}

// A turn copies kPagesAtOnce pages, and edits are written between the turns.
Result<void> SqliteStore::back_up(const std::string& file) {
    constexpr int kPagesAtOnce = 64;
    DraftFile made = TRY(DraftFile::make(file));
    {
        std::optional<Database::Copy> copy;
        for (bool more = true; more;) {
            const sched::TurnLock::Patient turn(turn_);
            if (!copy) copy.emplace(TRY(Database::Copy::begin(database_, made.draft())));
            more = TRY(copy->more(kPagesAtOnce));
            // It ends within its turn: it holds on to the connection.
            if (!more) copy.reset();
        }
    }
    return made.keep();
}

Result<void> SqliteStore::write(std::span<const Batch* const> batches) {
    if (failure_) return Failure(*failure_);
    {
        const sched::TurnLock::Patient turn(turn_);
        LastCommit last;
        database_.take_sealed();
        Result<void> written = database_.transaction([&]() -> Result<void> {
            for (const Batch* batch : batches) TRY(write_batch(database_, *batch));
            last = TRY(count_commit(database_, last_));
            return {};
        });
        log_in_use_ = true;
        if (!written) return written;
        last_ = last;
    }
    if (std::any_of(batches.begin(), batches.end(), is_awaited) && !files_.are_in_place()) {
        failure_ = removed();
        return Failure(*failure_);
    }
    mark_.write(last_);
    // The batches are durable, whether or not the rest succeeds.
    if (database_.log_pages() >= kBusyCheckpoint) {
        const sched::TurnLock::Patient turn(turn_);
        checkpoint();
    }
    if (purpose_ == OpenFor::work) make_room();
    return {};
}

Error SqliteStore::removed() {
    const std::string directory = directory_of(log_.path());
    std::string what =
        cat("nothing was kept in ", directory,
            ": it was removed or moved while its kernel ran (git clean -xfd removes it). ");
    Map details{{"file", directory}};
    if (Result<std::string> saved =
            options_.rescue ? options_.rescue(*this) : Result<std::string>("");
        !saved) {
        what +=
            cat("What the kernel held could not be saved either: ", saved.error().message(), ". ");
    } else if (!saved->empty()) {
        what += cat("What the kernel held is in ", *saved, ". ");
        details.set("directory", *saved);
    }
    what += "The kernel ends; the next call starts one anew, with what is then in the folder";
    return Error(Errc::unavailable, "workspace_removed", std::move(what), std::move(details));
}

bool SqliteStore::is_final(const Error& error) const {
    return failure_ || error.reason() == "store_failed";
}

void SqliteStore::tend() {
    if (failure_ || purpose_ == OpenFor::inspection) return;
    if (log_in_use_) {
        const sched::TurnLock::Patient turn(turn_);
        checkpoint();
        if (!log_in_use_ && !failure_) begin_log();
    }
    make_room();
}

void SqliteStore::make_room() {
    if (failure_) return;
    const std::int64_t used = std::int64_t{database_.log_pages()} * kFrameBytes;
    const std::int64_t step = std::clamp(used, kLeastLogStep, kMostLogStep);
    if (log_room_ - used >= step / 4) return;
    const std::int64_t wanted = used + step;
    if (Result<void> grown = log_.grow(wanted); !grown) failure_ = std::move(grown).error();
    log_room_ = wanted;
}

// The first commit of a log flushes the log's header on its own before it flushes its pages. An edit
// that comes after a silence would wait for both, so a commit that changes nothing goes first. The
// database has its page already: it may be lost.
void SqliteStore::begin_log() {
    const Result<void> begun =
        database_.transaction([&] { return store_last_commit(database_, last_); });
    if (!begun && begun.error().reason() != "disk_full") failure_ = begun.error();
}

void SqliteStore::checkpoint(Database::AfterCheckpoint after) {
    Result<bool> emptied = database_.checkpoint(after);
    if (emptied && *emptied) {
        log_in_use_ = false;
        if (after == Database::AfterCheckpoint::keep_file) log_.empty();
        return;
    }
    // With no room in the database file its log stays, and what it holds is as safe there.
    if (!emptied && emptied.error().reason() != "disk_full") failure_ = std::move(emptied).error();
}

}  // namespace quire::store
