// LockFile: allows one process per workspace, and names that process.
//
// It is an open-file-description lock. The kernel releases it when its holder ends in any way, so
// a remaining lock file is never stale. Two holders within one process exclude each other, too.
#pragma once

#include <string>

#include "base/result.h"

namespace quire::store {

class LockFile {
public:
    // Takes the lock at `path`, a file made with mode 0600 that then holds this process's id in
    // decimal. Errors: unavailable "workspace_locked" {pid, when known}, at once;
    // "store_not_writable".
    static Result<LockFile> take(const std::string& path);
    // Error "workspace_locked", as above, if some process holds the lock now. Writes nothing.
    static Result<void> require_free(const std::string& path);
    LockFile(const LockFile&) = delete;
    LockFile& operator=(const LockFile&) = delete;
    ~LockFile();
    LockFile(LockFile&& other) noexcept;
    LockFile& operator=(LockFile&&) = delete;

private:
    explicit LockFile(int fd) : fd_(fd) {}
    int fd_;
};

}  // namespace quire::store
