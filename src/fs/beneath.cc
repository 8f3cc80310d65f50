// Paths come from agents, and other programs may swap a component for a link at any moment. So
// every open goes through openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS (Linux 5.6): the
// kernel itself refuses to leave the directory, and there is no check that could be raced. Renames
// name their two directories by descriptor for the same reason. What a caller is told of a failure
// is decided here as well: system_failure() gives each errno its code and reason.

#include "fs/beneath.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/write_all.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1U << 0)
#endif
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1U << 1)
#endif

namespace quire::fs {
namespace {

std::int64_t nanoseconds(const struct timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// Older kernels and file systems update times in steps; a change this long ago belongs to an
// earlier step.
constexpr std::int64_t kRacyNs = 2'000'000'000;

}  // namespace

Fd::~Fd() {
    if (fd_ >= 0) ::close(fd_);
}

// Gives the errno a code and a reason; all other failures are input or output errors.
Failure system_failure(int error, std::string_view path, std::string_view what) {
    const auto message = [&](std::string_view why) {
        return cat(what, " ", path.empty() ? "." : path, ": ", why);
    };
    switch (error) {
        case ENOENT:
            return fail(Errc::not_found, "file_not_found", message("there is no such file"));
        case ENOTDIR:
            return fail(Errc::not_found, "file_not_found",
                        message("a component of the path is not a directory"));
        case EXDEV:
            return fail(Errc::denied, "outside_workspace",
                        message("it leads outside of the workspace"));
        case ELOOP:
            return fail(Errc::conflict, "path_changed",
                        message("a component of the path became a link meanwhile; try again"));
        case EISDIR: {
            Map details;
            details.set("kind", "directory");
            return invalid("not_a_file", message("it is a directory"), std::move(details));
        }
        case EACCES:
        case EPERM:
            return fail(Errc::denied, "access_denied", message("the system does not allow it"));
        case ENAMETOOLONG:
            return invalid("invalid_path", message("the name is too long"));
        case ENOSPC:
        case EDQUOT:
            return fail(Errc::unavailable, "disk_full", message("the disk is full"));
        case EROFS:
            return fail(Errc::denied, "access_denied", message("the file system is read-only"));
        case ENOSYS:
            return fail(
                Errc::unsupported, "unsupported_kernel",
                message(
                    "this kernel lacks openat2 (Linux 5.6), which is needed to open files safely"));
        default:
            break;
    }
    return fail(Errc::unavailable, "io_error", message(std::strerror(error)));
}

// Repeats the call when a rename elsewhere disturbed it.
int try_open_beneath(int directory, const std::string& path, int flags, mode_t mode) {
    struct open_how how = {};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.mode = (flags & O_CREAT) != 0 ? mode : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
    while (true) {
        const long fd =
            ::syscall(SYS_openat2, directory, path.empty() ? "." : path.c_str(), &how, sizeof how);
        // EAGAIN: something was renamed while the kernel checked that the path stays beneath.
        if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) return static_cast<int>(fd);
    }
}

Result<Fd> open_beneath(int directory, const std::string& path, int flags, mode_t mode) {
    const int fd = try_open_beneath(directory, path, flags, mode);
    if (fd < 0) return system_failure(errno, path, "cannot open");
    return Fd(fd);
}

int rename_exchange(int directory, const std::string& a, const std::string& b) {
    return static_cast<int>(
        ::syscall(SYS_renameat2, directory, a.c_str(), directory, b.c_str(), RENAME_EXCHANGE));
}

int rename_noreplace(int from_directory, const std::string& from, int to_directory,
                     const std::string& to) {
    return static_cast<int>(::syscall(SYS_renameat2, from_directory, from.c_str(), to_directory,
                                      to.c_str(), RENAME_NOREPLACE));
}

// Links never get here; everything but files and directories is `other`.
Kind kind_of(const struct stat& status) {
    if (S_ISREG(status.st_mode)) return Kind::file;
    if (S_ISDIR(status.st_mode)) return Kind::directory;
    return Kind::other;
}

// Devices, fifos and sockets can block or act on being read, so only regular files are allowed.
Result<void> require_file(const struct stat& status, std::string_view path) {
    if (S_ISREG(status.st_mode)) return {};
    const std::string_view kind = S_ISDIR(status.st_mode)    ? "directory"
                                  : S_ISFIFO(status.st_mode) ? "fifo"
                                  : S_ISSOCK(status.st_mode) ? "socket"
                                  : S_ISLNK(status.st_mode)  ? "link"
                                                             : "device";
    Map details;
    details.set("kind", kind);
    return invalid("not_a_file", cat(path.empty() ? "." : path, " is a ", kind, ", not a file"),
                   std::move(details));
}

// Settled means that the last change is older than the steps of the file system's clock.
Stamp stamp_of(const struct stat& status) {
    Stamp stamp;
    stamp.device = status.st_dev;
    stamp.inode = status.st_ino;
    stamp.size = static_cast<std::uint64_t>(status.st_size);
    stamp.modified_ns = nanoseconds(status.st_mtim);
    stamp.changed_ns = nanoseconds(status.st_ctim);
    stamp.settled = age_of(status) > kRacyNs;
    return stamp;
}

Result<void> write_all(int fd, std::string_view bytes, std::string_view path) {
    const Result<void> written = quire::write_all(fd, bytes);
    if (written) return {};
    const Value* error = written.error().details().find("errno");
    return system_failure(static_cast<int>(error->as_int()), path, "cannot write");
}

// Reads one byte more than the limit, to notice a larger file without trusting its size.
Result<std::string> read_all(int fd, std::size_t expected, std::size_t limit,
                             std::string_view path) {
    std::string bytes;
    std::size_t filled = 0;
    const std::size_t most = limit + 1;
    while (filled < most) {
        if (filled == bytes.size()) {
            bytes.resize(std::min(most, std::max(std::min(expected, limit) + 1, filled * 2)));
        }
        const ssize_t got = ::read(fd, bytes.data() + filled, bytes.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_failure(errno, path, "cannot read");
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
}

// A read lease is granted only while nobody has the file open for writing, or mapped so. Whoever
// opens it for writing in the microseconds before it is given up waits that long; the signal about
// it is one that is ignored unless a program asks for it.
Writers writers_of(int fd) {
    if (::fcntl(fd, F_SETSIG, SIGURG) != 0) return Writers::unknown;
    if (::fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
        ::fcntl(fd, F_SETLEASE, F_UNLCK);
        return Writers::none;
    }
    return errno == EAGAIN ? Writers::some : Writers::unknown;
}

std::int64_t steady_ms() {
    struct timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return nanoseconds(now) / 1'000'000;
}

std::int64_t age_of(const struct stat& status) {
    struct timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return nanoseconds(now) - nanoseconds(status.st_ctim);
}

std::pair<std::string, std::string> split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace quire::fs
