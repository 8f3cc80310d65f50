// Database: one SQLite connection, with errors as Results. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace quire::store {

// The error for a database that is not what it should be: corrupt "corrupt" {file}, with what its
// owner can do.
Failure damaged(const std::string& path, const std::string& what);

// A prepared statement that is being run. Bound views must outlive it; it is reset when it goes.
class Statement {
public:
    explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    ~Statement();
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;

    // The next parameter, from the first on.
    Statement& bind(std::int64_t value);
    Statement& bind(std::string_view text);
    Statement& bind(const Bytes& blob);
    // A checksum over all that was bound so far, as the next parameter.
    Statement& seal();

    Result<bool> step();  // Whether there is a row.
    // Like step(), for rows whose last column is the seal over the ones before it: those that were
    // sealed, in that order. Errors: corrupt "corrupt" when it does not fit. SQLite itself sees
    // damage to its pages' structure only.
    Result<bool> sealed_step();
    Result<void> run();  // To the end, rows unread.

    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    Bytes blob(int column) const;

private:
    void mix(const void* bytes, std::size_t size);

    sqlite3_stmt* statement_;
    int bound_ = 0;
    std::uint64_t checksum_ = 0;
};

class Database {
public:
    // Opens what is there, or makes it.
    static Result<Database> open(const std::string& path);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database();
    Database(Database&&) noexcept;
    Database& operator=(Database&&) = delete;

    Result<void> execute(const char* sql);
    // `sql` is a literal: its address is the key under which the prepared statement is kept.
    Result<Statement> prepare(const char* sql);
    Result<void> run(const char* sql);  // prepare() and run to the end.
    // The first column of the first row.
    Result<std::int64_t> integer(const char* sql);

    // Rolls back on any error. `use` gives a Result<void>.
    template <class F>
    Result<void> transaction(F&& use) {
        TRY(run("BEGIN IMMEDIATE"));
        Result<void> result = use();
        if (result) result = run("COMMIT");
        if (!result) roll_back();
        return result;
    }

    // Writes through a log (WAL) that is emptied by checkpoint() only.
    Result<void> use_log();
    // How many pages the log held after the last commit or checkpoint.
    int log_pages() const { return *log_pages_; }
    // Moves the log into the database file and flushes it; whether all of it is there. The log is
    // then written from its start again.
    Result<bool> checkpoint();

private:
    explicit Database(sqlite3* connection) : connection_(connection) {}
    void roll_back();

    sqlite3* connection_;
    std::unique_ptr<int> log_pages_ = std::make_unique<int>(0);  // SQLite holds its address.
    std::unordered_map<const char*, sqlite3_stmt*> statements_;
};

}  // namespace quire::store
