// The draft lies in the directory of the file, so that naming it is a rename within one file
// system. RENAME_NOREPLACE decides whether the name is free; make() asks before, only to refuse
// early. A draft that is not kept is removed with what SQLite may have left beside it.

#include "store/draft_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/durable.h"
#include "base/fd.h"

namespace quire::store {
namespace {

Failure not_made(const std::string& path, int error) {
    if (error == EEXIST) {
        return fail(Errc::conflict, "file_exists",
                    cat(path, " is there already, and is never written over; name a new file"),
                    {{"file", path}});
    }
    const bool is_full = error == ENOSPC || error == EDQUOT;
    return fail(Errc::unavailable, is_full ? "disk_full" : "file_not_writable",
                cat("cannot write ", path, ": ", std::strerror(error)), {{"file", path}});
}

}  // namespace

DraftFile::DraftFile(std::string path, std::string draft)
    : path_(std::move(path)), draft_(std::move(draft)) {}

DraftFile::DraftFile(DraftFile&& other) noexcept
    : path_(std::move(other.path_)), draft_(std::exchange(other.draft_, {})) {}

DraftFile::~DraftFile() {
    if (draft_.empty()) return;
    for (const char* const part : {"", "-wal", "-journal"}) ::unlink((draft_ + part).c_str());
}

Result<DraftFile> DraftFile::make(const std::string& path) {
    if (::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return not_made(path, EEXIST);
    std::string draft = path + ".draft-XXXXXX";
    const Fd file(::mkostemp(draft.data(), O_CLOEXEC));  // Mode 0600.
    if (!file) return not_made(path, errno);
    return DraftFile(path, std::move(draft));
}

Result<void> DraftFile::keep() {
    const Fd file(::open(draft_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file || ::fsync(file.get()) != 0) return not_made(path_, errno);
    if (::renameat2(AT_FDCWD, draft_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) {
        draft_.clear();
    } else if (errno != EINVAL || ::link(draft_.c_str(), path_.c_str()) != 0) {
        // Some file systems know a new name beside the old one only.
        return not_made(path_, errno);
    }
    if (!sync_directory_of(path_)) return not_made(path_, errno);
    return {};
}

}  // namespace quire::store
