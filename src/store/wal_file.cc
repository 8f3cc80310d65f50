#include "store/wal_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"

namespace quire::store {

namespace {

constexpr std::size_t kHeaderBytes = 32;

class File {
public:
    File(const std::string& path, int flags)
        : fd_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW)) {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd() const { return fd_; }

private:
    int fd_;
};

}  // namespace

bool WalFile::is_in_use() const {
    const File file(path_, O_RDONLY);
    char magic[4] = {};
    return file.fd() >= 0 && ::pread(file.fd(), magic, sizeof magic, 0) == sizeof magic &&
           std::any_of(std::begin(magic), std::end(magic), [](char c) { return c != 0; });
}

Result<void> WalFile::grow(std::int64_t bytes) const {
    const File file(path_, O_RDWR);
    struct stat status = {};
    if (file.fd() < 0 || ::fstat(file.fd(), &status) != 0 || status.st_size >= bytes) return {};
    const std::vector<char> zeros(64U << 10);
    for (std::int64_t at = status.st_size; at < bytes;) {
        const auto length = static_cast<std::size_t>(
            std::min<std::int64_t>(bytes - at, static_cast<std::int64_t>(zeros.size())));
        const ssize_t written = ::pwrite(file.fd(), zeros.data(), length, at);
        if (written < 0 && errno == EINTR) continue;
        // Room that is not to be had is no fault: the log grows as it is written, and says so if it
        // cannot.
        if (written <= 0) return {};
        at += written;
    }
    if (::fdatasync(file.fd()) == 0) return {};
    return fail(Errc::unavailable, "store_failed",
                cat("cannot flush ", path_, ": ", std::strerror(errno)), {{"file", path_}});
}

void WalFile::mark_clean() const {
    const File file(path_, O_WRONLY);
    const char zeros[kHeaderBytes] = {};
    // If this is lost, the next start reads frames that the database file already has: slower, and
    // as true.
    if (file.fd() >= 0) static_cast<void>(::pwrite(file.fd(), zeros, sizeof zeros, 0) == 0);
}

}  // namespace quire::store
