// WalFile: the write-ahead log as a file beside the database. SQLite decides its content. This
// class extends the file ahead of need, so that a commit overwrites existing blocks instead of
// making the file longer, and empties it.
//
// SQLite takes a log that begins with zeros for an empty one, because its magic number is
// missing, and takes zeros after the last frame for its end, because they have no valid checksum.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace quire::store {

class WalFile {
public:
    // Returns true if the log of the database may hold frames that the database file lacks,
    // because its last owner was killed.
    static bool is_in_use(const std::string& database_path);

    // The log of an open database, which SQLite has made. It stays this file, whatever happens to
    // its path.
    explicit WalFile(const std::string& database_path);
    const std::string& path() const { return path_; }

    // Makes the file at least `bytes` long with written blocks, not only reserved ones. O(bytes)
    // and a flush.
    Result<void> grow(std::int64_t bytes) const;
    // Empties the log and keeps its blocks. Call it only after a full checkpoint. Frames that
    // the database has already do no harm while they are whole; but of a log that was damaged in
    // the middle SQLite would show the pages before that place, old as they are. Without a flush:
    // if this is lost, the next start reads those frames again.
    void empty() const;

private:
    std::string path_;
    Fd file_;
};

}  // namespace quire::store
