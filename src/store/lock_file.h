// LockFile: one process holds a workspace, and says which one it is.
//
// An open-file-description lock: it goes with its holder however that ends, so a lock file that
// lies about is never stale; two holders within one process exclude each other as well.
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
