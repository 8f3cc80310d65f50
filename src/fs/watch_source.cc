// IN_EXCL_UNLINK leaves out what is written to files that have no name any more. A watch is of the
// folder itself: it stays when the folder is moved, and TreeWatch finds out by its parent's events.
#include "fs/watch_source.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/inotify.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"

namespace quire::fs {
namespace {

constexpr std::uint32_t kWatched = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVED_FROM |
                                   IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_DELETE_SELF |
                                   IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;

class Inotify final : public WatchSource {
public:
    Inotify() : events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

    int fd() const override { return events_.get(); }

    // The call takes a path only; this one leads to the open folder itself, wherever it is now.
    int add(int folder) override {
        if (!events_) return -ENOSPC;
        const std::string path = cat("/proc/self/fd/", folder);
        const int watch = ::inotify_add_watch(events_.get(), path.c_str(), kWatched);
        return watch < 0 ? -errno : watch;
    }

    void remove(int watch) override {
        if (events_) ::inotify_rm_watch(events_.get(), watch);
    }

    bool read(std::vector<WatchEvent>& events) override {
        alignas(inotify_event) std::array<char, 65536> bytes;
        const ssize_t length = events_ ? ::read(events_.get(), bytes.data(), bytes.size()) : 0;
        for (ssize_t at = 0; at < length;) {
            inotify_event event = {};
            std::memcpy(&event, bytes.data() + at, sizeof event);
            const char* const name = bytes.data() + at + sizeof event;
            events.push_back({event.wd, event.mask, event.len == 0 ? "" : name});
            at += static_cast<ssize_t>(sizeof event + event.len);
        }
        return length > 0;
    }

private:
    quire::Fd events_;
};

}  // namespace

std::unique_ptr<WatchSource> inotify_source() {
    return std::make_unique<Inotify>();
}

}  // namespace quire::fs
