// System calls that cannot leave a directory, with their failures in our words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "base/result.h"
#include "fs/file_system.h"

struct stat;

namespace quire::fs {

// Owns a file descriptor.
class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd();
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_ = -1;
};

// The error for a failed system call on `path`; `error` is its errno.
Failure system_failure(int error, std::string_view path, std::string_view what);

// openat2 beneath `directory`, without following any link. "" and "." mean the directory itself.
Result<Fd> open_beneath(int directory, const std::string& path, int flags, mode_t mode = 0);
// Like open_beneath(), but returns -1 and leaves the errno to the caller.
int try_open_beneath(int directory, const std::string& path, int flags, mode_t mode = 0);

// Exchanges two names in one step; 0, or -1 with errno.
int rename_exchange(int directory, const std::string& a, const std::string& b);
// Renames unless the new name exists; 0, or -1 with errno.
int rename_noreplace(int from_directory, const std::string& from, int to_directory,
                     const std::string& to);

// The kind of a file, by its status.
Kind kind_of(const struct stat& status);
// The error not_a_file unless the status is that of a regular file.
Result<void> require_file(const struct stat& status, std::string_view path);
// The stamp of a file, by its status.
Stamp stamp_of(const struct stat& status);

// Writes all bytes, however many calls that takes.
Result<void> write_all(int fd, std::string_view bytes, std::string_view path);
// Reads up to `limit` bytes and one more, which tells that there are too many.
Result<std::string> read_all(int fd, std::size_t expected, std::size_t limit,
                             std::string_view path);

// Says whether another program has a file open for writing, by asking the system for a lease on it.
// `unknown` where it gives no leases: on files of other users and on some file systems.
enum class Writers { none, some, unknown };
// `fd` must be open for reading alone.
Writers writers_of(int fd);
// Nanoseconds since the file's bytes or properties last changed, by the system's clock.
std::int64_t age_of(const struct stat& status);
// Milliseconds from some fixed moment; never goes back.
std::int64_t steady_ms();

// The parent and the last component: {"a/b", "c"} for "a/b/c", {"", "c"} for "c".
std::pair<std::string, std::string> split(const std::string& path);

}  // namespace quire::fs
