// WalFile: the write-ahead log as a file beside the database. SQLite decides its content. This
// class extends the file ahead of need, so that a commit overwrites existing blocks instead of
// making the file longer, and marks a clean shutdown.
//
// SQLite takes a log that begins with zeros for an empty one, because its magic number is
// missing, and takes zeros after the last frame for its end, because they have no valid checksum.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace quire::store {

class WalFile {
public:
    explicit WalFile(const std::string& database_path) : path_(database_path + "-wal") {}

    // Returns true if the log may hold frames that the database file lacks, because its last owner
    // was killed.
    bool is_in_use() const;
    // Makes the file at least `bytes` long with written blocks, not only reserved ones. O(bytes)
    // and a flush.
    Result<void> grow(std::int64_t bytes) const;
    // Marks that the database file contains everything. Call it only after a full checkpoint,
    // with the database closed.
    void mark_clean() const;

private:
    std::string path_;
};

}  // namespace quire::store
