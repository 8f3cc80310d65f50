// Database: one SQLite connection whose errors are Results. Not thread-safe. Besides the errors
// named below, every call may fail with unavailable "store_failed" or "disk_full".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_backup;
struct sqlite3_stmt;

namespace quire::store {

// The error for a damaged database: corrupt "corrupt" {file}, with advice for its owner.
Failure damaged(const std::string& path, const std::string& what);

// A prepared statement that is being run. Bound views must outlive it. Its destructor resets it.
class Statement {
public:
    // Every seal is mixed into `sealed`, which outlives the statement.
    Statement(sqlite3_stmt* statement, std::uint64_t* sealed)
        : statement_(statement), sealed_(sealed) {}
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    ~Statement();
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;

    // Binds the next parameter, beginning with the first.
    Statement& bind(std::int64_t value);
    Statement& bind(std::string_view text);
    Statement& bind(const Bytes& blob);
    // Binds null for an empty text. A null is no part of the seal, so that a row from before its
    // column was added still fits.
    Statement& bind_unless_empty(std::string_view text);
    // A checksum over all that was bound so far, as the next parameter.
    Statement& seal();

    // Steps to the next row; false if there is none.
    Result<bool> step();
    // Like step(), for rows whose last column is the seal over the columns before it. Errors:
    // corrupt "corrupt" for a wrong seal. SQLite itself only notices damage to the structure of
    // its pages.
    Result<bool> sealed_step();
    // Returns true if the present row's last column is the seal over those before it, from `first`
    // on.
    bool fits_seal(int first = 0);
    // Runs to the end without reading rows.
    Result<void> run();

    // The columns of the present row, from 0 on. Text and blobs are copied.
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    Bytes blob(int column) const;

private:
    void mix(const void* bytes, std::size_t size);

    sqlite3_stmt* statement_;
    std::uint64_t* sealed_;
    int bound_ = 0;
    std::uint64_t checksum_ = 0;
};

class Database {
public:
    // Opens the database, or creates an empty one.
    static Result<Database> open(const std::string& path);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database();
    Database(Database&&) noexcept;
    Database& operator=(Database&&) = delete;

    // Runs several statements without parameters.
    Result<void> execute(const char* sql);
    // `sql` is a literal: its address is the key under which the prepared statement is kept.
    Result<Statement> prepare(const char* sql);
    // Prepares the statement and runs it to the end.
    Result<void> run(const char* sql);
    // The first column of the first row.
    Result<std::int64_t> integer(const char* sql);

    // Runs `use`, which returns a Result<void>, in a transaction and rolls back on any error.
    template <class F>
    Result<void> transaction(F&& use) {
        TRY(run("BEGIN IMMEDIATE"));
        Result<void> result = use();
        if (result) result = run("COMMIT");
        if (!result) roll_back();
        return result;
    }

    // Switches to a write-ahead log, which only checkpoint() empties.
    Result<void> use_log();
    // The number of pages in the log after the last commit or checkpoint.
    int log_pages() const { return *log_pages_; }
    // Copies the log into the database file and flushes it. Returns whether everything was
    // copied; the log is then written from its beginning again. O(pages in the log).
    enum class AfterCheckpoint {
        keep_file,
        cut_file
    };  // The log's: it keeps its length, or has 0.
    Result<bool> checkpoint(AfterCheckpoint after = AfterCheckpoint::keep_file);

    // A checksum over the seals since it was last taken.
    std::uint64_t take_sealed() { return std::exchange(*sealed_, 0); }

    // Copies the database into a new file beside it, some pages at a time; what is written through
    // this connection meanwhile gets there too. more() copies the next `pages` and returns false
    // after the last.
    class Copy {
    public:
        static Result<Copy> begin(Database& from, const std::string& path);
        Result<bool> more(int pages);
        Copy(Copy&& other) noexcept;
        Copy(const Copy&) = delete;
        Copy& operator=(const Copy&) = delete;
        Copy& operator=(Copy&&) = delete;
        ~Copy();

    private:
        Copy(Database to, sqlite3_backup* backup);
        std::unique_ptr<Database> to_;
        sqlite3_backup* backup_;
    };

private:
    explicit Database(sqlite3* connection) : connection_(connection) {}
    void roll_back();

    sqlite3* connection_;
    std::unique_ptr<int> log_pages_ = std::make_unique<int>(0);  // SQLite holds its address.
    std::unique_ptr<std::uint64_t> sealed_ = std::make_unique<std::uint64_t>(0);
    std::unordered_map<const char*, sqlite3_stmt*> statements_;
};

}  // namespace quire::store
