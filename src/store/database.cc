// A Database is one SQLite connection. Statements are prepared once and cached by the address of
// their text. A seal is an XXH3 checksum, chained over the bound values in their order and stored
// in the last column. Reading a row computes it again, because SQLite detects damage only to the
// structure of its pages.
#include "store/database.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sqlite3.h>
#include <xxhash.h>

#include "base/concat.h"

namespace quire::store {

Failure damaged(const std::string& path, const std::string& what) {
    return corrupt(
        cat("the database ", path, " is damaged (", what,
            "). It was left as it is: quire fsck says what is damaged, quire salvage DIR "
            "saves what can be read, and quire restore FILE begins anew from a backup"),
        {{"file", path}});
}

namespace {

// SQLite counts what it allocates under a lock that all connections share, and nobody asks for the
// sum. It can be told so only before its first connection in the process.
void count_no_memory() {
    static const int said = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    static_cast<void>(said);
}

// A full disk is told apart from other faults, since the caller can go on once there is room.
bool is_out_of_space(int code, int system_error) {
    if ((code & 0xff) == SQLITE_FULL) return true;
    // A quota or a file size limit; SQLite knows ENOSPC alone. A failed flush never counts: it is
    // final.
    return code == SQLITE_IOERR_WRITE &&
           (system_error == EDQUOT || system_error == EFBIG || system_error == ENOSPC);
}

// SQLite's codes as the errors of this house, by what a caller can do about them. The message is
// SQLite's, and where the system said more, its words too.
Error error_of(sqlite3* connection, int code) {
    const int system_error = sqlite3_system_errno(connection);
    const char* const file = sqlite3_db_filename(connection, "main");
    std::string what = sqlite3_errmsg(connection);
    Map details{{"sqlite_code", code}};
    if (file != nullptr) details.set("file", file);
    if (is_out_of_space(code, system_error)) {
        return Error(Errc::unavailable, "disk_full",
                     "nothing was kept: the disk has no room left. Free some, then try again",
                     std::move(details));
    }
    switch (code & 0xff) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_FORMAT:
            return std::move(damaged(file == nullptr ? "" : file, what)).value();
        case SQLITE_CONSTRAINT:
            return Error(Errc::conflict, "constraint", cat("nothing was kept: ", what),
                         std::move(details));
        case SQLITE_TOOBIG:
            return Error(Errc::out_of_range, "too_large",
                         "nothing was kept: a record is larger than the store can hold",
                         std::move(details));
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return Error(Errc::unavailable, "workspace_locked",
                         "another process uses the database of this workspace", std::move(details));
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
            if (system_error != 0) what += cat(", ", std::strerror(system_error));
            return Error(Errc::unavailable, "store_not_writable",
                         cat("the database ", file == nullptr ? "" : file,
                             " cannot be opened for writing (", what, ")"),
                         std::move(details));
        default:
            if (system_error != 0) what += cat(", ", std::strerror(system_error));
            return Error(Errc::unavailable, "store_failed",
                         cat("the database could not be read or written: ", what),
                         std::move(details));
    }
}

}  // namespace

Statement::~Statement() {
    if (statement_ == nullptr) return;
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)),
      sealed_(other.sealed_),
      bound_(other.bound_),
      checksum_(other.checksum_) {}

void Statement::mix(const void* bytes, std::size_t size) {
    checksum_ = XXH3_64bits_withSeed(bytes, size, checksum_);
}

Statement& Statement::bind(std::int64_t value) {
    mix(&value, sizeof value);
    sqlite3_bind_int64(statement_, ++bound_, value);
    return *this;
}

Statement& Statement::bind(std::string_view text) {
    mix(text.data(), text.size());
    // An empty view may hold no address, which SQLite would take for NULL.
    sqlite3_bind_text64(statement_, ++bound_, text.empty() ? "" : text.data(), text.size(),
                        SQLITE_STATIC, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind(const Bytes& blob) {
    mix(blob.data(), blob.size());
    if (blob.empty()) {
        sqlite3_bind_zeroblob(statement_, ++bound_, 0);
    } else {
        sqlite3_bind_blob64(statement_, ++bound_, blob.data(), blob.size(), SQLITE_STATIC);
    }
    return *this;
}

Statement& Statement::bind_unless_empty(std::string_view text) {
    if (!text.empty()) return bind(text);
    sqlite3_bind_null(statement_, ++bound_);
    return *this;
}

// The seals of a transaction are chained in turn; the sum goes into the hash of its commit.
Statement& Statement::seal() {
    sqlite3_bind_int64(statement_, ++bound_, std::bit_cast<std::int64_t>(checksum_));
    *sealed_ = XXH3_64bits_withSeed(&checksum_, sizeof checksum_, *sealed_);
    return *this;
}

Result<bool> Statement::sealed_step() {
    if (!TRY(step())) return false;
    if (fits_seal()) return true;
    return damaged(sqlite3_db_filename(sqlite3_db_handle(statement_), "main"),
                   "a record is not what was written");
}

// The columns from `first` on are mixed as bind() mixed them, null as nothing, so the statement
// must select them in the order in which they were bound.
bool Statement::fits_seal(int first) {
    checksum_ = 0;
    const int seal = sqlite3_column_count(statement_) - 1;
    for (int column = first; column < seal; ++column) {
        const int type = sqlite3_column_type(statement_, column);
        if (type == SQLITE_NULL) continue;
        if (type == SQLITE_INTEGER) {
            const std::int64_t value = integer(column);
            mix(&value, sizeof value);
        } else {
            // A text and a blob give the same bytes. SQLite wants the address to be asked for
            // before the size.
            const void* const bytes = sqlite3_column_blob(statement_, column);
            mix(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
        }
    }
    return std::bit_cast<std::int64_t>(checksum_) == integer(seal);
}

Result<bool> Statement::step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return Failure(error_of(sqlite3_db_handle(statement_), code));
}

Result<void> Statement::run() {
    while (TRY(step())) {
    }
    return {};
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_, column);
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

std::string Statement::text(int column) const {
    const auto* const data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return data == nullptr
               ? std::string()
               : std::string(data,
                             static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

Bytes Statement::blob(int column) const {
    const auto* const data =
        static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
    return data == nullptr ? Bytes() : Bytes(data, data + sqlite3_column_bytes(statement_, column));
}

Result<Database> Database::open(const std::string& path) {
    count_no_memory();
    sqlite3* connection = nullptr;
    const int code = sqlite3_open_v2(
        path.c_str(), &connection,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
        nullptr);
    if (connection == nullptr)
        return fail(Errc::unavailable, "store_failed", "there is no memory for a database");
    Database database(connection);
    if (code != SQLITE_OK) return Failure(error_of(connection, code));
    // The log stays for the next start, and closing does nothing that was not asked for.
    int keep = 1;
    sqlite3_file_control(connection, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return database;
}

Database::~Database() {
    for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    if (connection_ != nullptr) sqlite3_close(connection_);
}

Database::Database(Database&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)),
      log_pages_(std::move(other.log_pages_)),
      sealed_(std::move(other.sealed_)),
      statements_(std::move(other.statements_)) {
    other.statements_.clear();
}

Result<void> Database::execute(const char* sql) {
    const int code = sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return Failure(error_of(connection_, code));
    return {};
}

// A statement is reset when the Statement that uses it goes. The text must live as long as the
// database, for its address is the key.
Result<Statement> Database::prepare(const char* sql) {
    sqlite3_stmt*& statement = statements_[sql];
    if (statement == nullptr) {
        const int code = sqlite3_prepare_v3(connection_, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                            &statement, nullptr);
        if (code != SQLITE_OK) return Failure(error_of(connection_, code));
    }
    return Statement(statement, sealed_.get());
}

Result<void> Database::run(const char* sql) {
    return TRY(prepare(sql)).run();
}

Result<std::int64_t> Database::integer(const char* sql) {
    Statement statement = TRY(prepare(sql));
    if (!TRY(statement.step())) return 0;
    return statement.integer(0);
}

// The hook counts the log's pages. It stands where SQLite's own checkpoints would be, so these are
// off: the store moves the log when it has time (SqliteStore::tend()).
Result<void> Database::use_log() {
    {
        Statement row = TRY(prepare("PRAGMA journal_mode = WAL"));
        if (TRY(row.step()) && row.text(0) != "wal") {
            return fail(Errc::unavailable, "store_failed",
                        "the database cannot be written through a log here");
        }
    }
    sqlite3_wal_hook(
        connection_,
        [](void* pages, sqlite3*, const char*, int count) {
            *static_cast<int*>(pages) = count;
            return SQLITE_OK;
        },
        log_pages_.get());
    return {};
}

// False where a part of the log could not be moved yet.
Result<bool> Database::checkpoint(AfterCheckpoint after) {
    int pages = 0, written = 0;
    const int mode =
        after == AfterCheckpoint::cut_file ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
    const int code = sqlite3_wal_checkpoint_v2(connection_, "main", mode, &pages, &written);
    if (code != SQLITE_OK) return Failure(error_of(connection_, code));
    if (pages != written) return false;
    *log_pages_ = 0;
    return true;
}

Database::Copy::Copy(Database to, sqlite3_backup* backup)
    : to_(std::make_unique<Database>(std::move(to))), backup_(backup) {}

Database::Copy::Copy(Copy&& other) noexcept
    : to_(std::move(other.to_)), backup_(std::exchange(other.backup_, nullptr)) {}

Database::Copy::~Copy() {
    if (backup_ != nullptr) sqlite3_backup_finish(backup_);
}

Result<Database::Copy> Database::Copy::begin(Database& from, const std::string& path) {
    Database to = TRY(Database::open(path));
    // A copy that was interrupted is thrown away, so it needs no journal of its own.
    TRY(to.execute("PRAGMA journal_mode = OFF"));
    TRY(to.execute("PRAGMA synchronous = OFF"));
    sqlite3_backup* const backup =
        sqlite3_backup_init(to.connection_, "main", from.connection_, "main");
    if (backup == nullptr)
        return Failure(error_of(to.connection_, sqlite3_errcode(to.connection_)));
    return Copy(std::move(to), backup);
}

Result<bool> Database::Copy::more(int pages) {
    const int code = sqlite3_backup_step(backup_, pages);
    if (code == SQLITE_DONE) return false;
    if (code == SQLITE_OK) return true;
    return Failure(error_of(to_->connection_, code));
}

void Database::roll_back() {
    // After some errors SQLite has rolled back by itself, and says so by being in autocommit again.
    if (sqlite3_get_autocommit(connection_) == 0)
        sqlite3_exec(connection_, "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace quire::store
