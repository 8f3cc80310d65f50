// Three ways, the cheapest first. FICLONE shares the blocks of the whole file. Where that cannot be
// done, each stretch between two holes is copied by the kernel (copy_file_range), which may still
// share blocks; and through memory where the kernel refuses, as between some file systems. A file
// that is written meanwhile gives a mixture of its states.
#include "fs/copy_bytes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <limits>

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/beneath.h"

namespace quire::fs {
namespace {

constexpr off_t kToTheEnd = std::numeric_limits<off_t>::max();

// A part of a file that is no hole.
struct Stretch {
    off_t begin = 0;
    off_t end = kToTheEnd;  // Or where the file ends.
};

// The first stretch from `at` on; one that is empty where only a hole follows. A file system that knows no
// holes has one stretch.
Stretch stretch_from(int file, off_t at) {
    const off_t begin = ::lseek(file, at, SEEK_DATA);
    if (begin < 0) return errno == ENXIO ? Stretch{at, at} : Stretch{at, kToTheEnd};
    const off_t end = ::lseek(file, begin, SEEK_HOLE);
    return {begin, end < 0 ? kToTheEnd : end};
}

Result<void> copy_through_memory(int from, int to, Stretch rest, const std::string& path) {
    std::array<char, 1 << 16> buffer{};
    while (rest.begin < rest.end) {
        const auto wanted = std::min<off_t>(buffer.size(), rest.end - rest.begin);
        const ssize_t got =
            ::pread(from, buffer.data(), static_cast<std::size_t>(wanted), rest.begin);
        if (got == 0) return {};
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_failure(errno, path, "cannot read for");
        for (ssize_t done = 0; done < got;) {
            const ssize_t put = ::pwrite(to, buffer.data() + done,
                                         static_cast<std::size_t>(got - done), rest.begin + done);
            if (put < 0 && errno != EINTR) return system_failure(errno, path, "cannot write");
            done += std::max<ssize_t>(put, 0);
        }
        rest.begin += got;
    }
    return {};
}

Result<void> copy_stretch(int from, int to, Stretch rest, const std::string& path) {
    off_t target = rest.begin;
    while (rest.begin < rest.end) {
        constexpr off_t kPiece = off_t{1} << 30;
        const auto wanted = static_cast<std::size_t>(std::min(kPiece, rest.end - rest.begin));
        const ssize_t copied = ::copy_file_range(from, &rest.begin, to, &target, wanted, 0);
        if (copied == 0) return {};
        if (copied > 0 || errno == EINTR) continue;
        // These mean that the two files cannot be copied so; anything else is an error of the disk.
        if (errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS)
            return system_failure(errno, path, "cannot copy to");
        return copy_through_memory(from, to, rest, path);
    }
    return {};
}

}  // namespace

Result<void> copy_bytes(int from, int to, const std::string& path) {
    if (::ioctl(to, FICLONE, from) == 0) return {};
    for (off_t at = 0; at < kToTheEnd;) {
        const Stretch next = stretch_from(from, at);
        if (next.begin == next.end) break;
        TRY(copy_stretch(from, to, next, path));
        at = next.end;
    }
    struct stat source {
    }, made{};
    if (::fstat(from, &source) != 0 || ::fstat(to, &made) != 0)
        return system_failure(errno, path, "cannot look at");
    // A hole at the end.
    if (made.st_size < source.st_size && ::ftruncate(to, source.st_size) != 0)
        return system_failure(errno, path, "cannot write");
    return {};
}

}  // namespace quire::fs
