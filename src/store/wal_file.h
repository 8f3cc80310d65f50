// The write-ahead log as a file beside the database. SQLite owns what it says; this gives it room
// on the disk, so that a commit overwrites blocks that are there instead of making the file longer,
// and keeps the mark of a clean end.
//
// A log that begins with zeros is an empty one to SQLite (its magic number is missing), and zeros
// after the last frame end it: neither has a valid checksum.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace quire::store {

class WalFile {
public:
    explicit WalFile(const std::string& database_path) : path_(database_path + "-wal") {}

    // Whether the log may hold frames that the database file has not: the last owner was killed.
    bool is_in_use() const;
    // Makes it at least `bytes` long, with blocks that are written, not only promised. O(bytes) and
    // a flush.
    Result<void> grow(std::int64_t bytes) const;
    // Says that the database file has everything. Only after a checkpoint of the whole, and with
    // the database closed.
    void mark_clean() const;

private:
    std::string path_;
};

}  // namespace quire::store
