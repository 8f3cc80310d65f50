// One loop over write(2), which may take fewer bytes than it was given. The rest is offered again
// until all is taken or the descriptor refuses.
#include "base/write_all.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace quire {

Result<void> write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            // Nothing taken, and no reason given: it would be so for ever.
            const int error = written < 0 ? errno : EIO;
            return fail(Errc::unavailable, "write_failed", std::strerror(error),
                        {{"errno", error}});
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

}  // namespace quire
