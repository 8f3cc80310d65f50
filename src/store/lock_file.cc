// The lock is of the open file description: it ends with the process, however that ends, and other
// descriptors of this process do not release it. The file stays, because removing it would let two
// processes lock two files of that name. Its text is the holder's process id, for messages and for
// clients that look for a kernel that does not answer.

#include "store/lock_file.h"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/file_rights.h"

namespace quire::store {

namespace {

// 0 when the holder has not written it yet.
std::int64_t holder_of(int fd) {
    char digits[24] = {};
    const ssize_t length = ::pread(fd, digits, sizeof digits, 0);
    std::int64_t pid = 0;
    if (length > 0) std::from_chars(digits, digits + length, pid);
    return pid;
}

// Writes our process id over the last one, and cuts the file only where that was longer. A file that
// is cut to nothing gives its block away and takes another: tens of microseconds, milliseconds where
// the disk is busy, and whoever reads it meanwhile finds no id.
bool write_holder(int fd) {
    const std::string pid = cat(static_cast<std::int64_t>(::getpid()), '\n');
    const auto length = static_cast<ssize_t>(pid.size());
    struct stat status = {};
    return ::pwrite(fd, pid.data(), pid.size(), 0) == length && ::fstat(fd, &status) == 0 &&
           (status.st_size == length || ::ftruncate(fd, length) == 0);
}

Failure not_writable(const std::string& path, int error) {
    const std::string missing = missing_rights(path);
    return fail(Errc::unavailable, "store_not_writable",
                cat("cannot write ", path, ": ",
                    missing.empty() ? std::string(std::strerror(error)) : missing),
                {{"file", path}});
}

Failure held(const std::string& path, int fd) {
    const std::int64_t pid = holder_of(fd);
    Map details{{"file", path}};
    if (pid > 0) details.set("pid", pid);
    return fail(
        Errc::unavailable, "workspace_locked",
        pid > 0
            ? cat("another process (", pid, ") holds this workspace; attach to it, or end it first")
            : std::string("another process holds this workspace; attach to it, or end it first"),
        std::move(details));
}

struct flock whole_file() {
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return whole;
}

}  // namespace

Result<void> LockFile::require_free(const std::string& path) {
    const LockFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct flock found = whole_file();
    // Without a lock file nobody has ever held it.
    if (file.fd_ < 0 || ::fcntl(file.fd_, F_OFD_GETLK, &found) != 0 || found.l_type == F_UNLCK)
        return {};
    return held(path, file.fd_);
}

Result<LockFile> LockFile::take(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return not_writable(path, errno);
    LockFile file(fd);

    struct flock whole = whole_file();
    if (::fcntl(fd, F_OFD_SETLK, &whole) != 0) {
        if (errno != EAGAIN && errno != EACCES) return not_writable(path, errno);
        return held(path, fd);
    }

    if (!write_holder(fd)) {
        // On a full disk the lock holds all the same; only its reader goes without the pid.
        if (errno != ENOSPC && errno != EDQUOT && errno != EFBIG) return not_writable(path, errno);
    }
    return file;
}

LockFile::~LockFile() {
    if (fd_ >= 0) ::close(fd_);
}

LockFile::LockFile(LockFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

}  // namespace quire::store
