#include "fs/copy_bytes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fs/beneath.h"

namespace quire::fs {

Result<void> copy_bytes(int from, int to, const std::string& path) {
    if (::ioctl(to, FICLONE, from) == 0) return {};
    for (;;) {
        constexpr std::size_t kPiece = std::size_t{1} << 30;
        const ssize_t copied = ::copy_file_range(from, nullptr, to, nullptr, kPiece, 0);
        if (copied == 0) return {};
        if (copied > 0 || errno == EINTR) continue;
        if (errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS)
            return system_failure(errno, path, "cannot copy to");
        break;
    }
    std::array<char, 1 << 16> buffer{};
    for (;;) {
        const ssize_t got = ::read(from, buffer.data(), buffer.size());
        if (got == 0) return {};
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_failure(errno, path, "cannot read for");
        for (ssize_t done = 0; done < got;) {
            const ssize_t put =
                ::write(to, buffer.data() + done, static_cast<std::size_t>(got - done));
            if (put < 0 && errno != EINTR) return system_failure(errno, path, "cannot write");
            done += std::max<ssize_t>(put, 0);
        }
    }
}

}  // namespace quire::fs
