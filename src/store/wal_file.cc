// Only the length and the header of the log are touched here, and only where SQLite does not look:
// zeros behind its last frame, and the header after all of its frames are in the database.

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

// SQLite's file format: the log's header, which begins with four bytes of magic.
constexpr std::size_t kHeaderBytes = 32;

std::string log_of(const std::string& database_path) {
    return database_path + "-wal";
}

Fd open_log(const std::string& path, int flags) {
    return Fd(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
}

}  // namespace

bool WalFile::is_in_use(const std::string& database_path) {
    const Fd file = open_log(log_of(database_path), O_RDONLY);
    char magic[4] = {};
    return file && ::pread(file.get(), magic, sizeof magic, 0) == sizeof magic &&
           std::any_of(std::begin(magic), std::end(magic), [](char c) { return c != 0; });
}

WalFile::WalFile(const std::string& database_path)
    : path_(log_of(database_path)), file_(open_log(path_, O_RDWR)) {}

Result<void> WalFile::grow(std::int64_t bytes) const {
    struct stat status = {};
    if (!file_ || ::fstat(file_.get(), &status) != 0 || status.st_size >= bytes) return {};
    const std::vector<char> zeros(64U << 10);
    for (std::int64_t at = status.st_size; at < bytes;) {
        const auto length = static_cast<std::size_t>(
            std::min<std::int64_t>(bytes - at, static_cast<std::int64_t>(zeros.size())));
        const ssize_t written = ::pwrite(file_.get(), zeros.data(), length, at);
        if (written < 0 && errno == EINTR) continue;
        // Room that is not to be had is no fault: the log grows as it is written, and says so if it
        // cannot.
        if (written <= 0) return {};
        at += written;
    }
    if (::fdatasync(file_.get()) == 0) return {};
    return fail(Errc::unavailable, "store_failed",
                cat("cannot flush ", path_, ": ", std::strerror(errno)), {{"file", path_}});
}

void WalFile::empty() const {
    const char zeros[kHeaderBytes] = {};
    if (file_) static_cast<void>(::pwrite(file_.get(), zeros, sizeof zeros, 0) == 0);
}

}  // namespace quire::store
