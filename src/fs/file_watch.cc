// The directory is watched, and not the file: editors replace a file by renaming another over it,
// and a watch would follow the old one. Events only wake a waiter early. What decides is the stamp,
// so a watch that could not be had costs time and never a change.
#include "fs/file_watch.h"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

namespace quire::fs {
namespace {

// Longer than a tick of the clock that stamps are made from.
constexpr std::int64_t kTickMs = 50;
constexpr std::uint32_t kChanges =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB | IN_ONLYDIR;

std::int64_t ns_of(const timespec& time) {
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileWatch::FileWatch(const std::string& directory, std::string name)
    : name_(std::move(name)),
      directory_(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
      events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    if (events_ && ::inotify_add_watch(events_.get(), directory.c_str(), kChanges) < 0)
        events_.reset();
    stamp_ = look();
}

FileWatch::Stamp FileWatch::look() const {
    struct stat found = {};
    if (::fstatat(directory_.get(), name_.c_str(), &found, 0) != 0) return {};
    return {found.st_dev, found.st_ino, found.st_size, ns_of(found.st_mtim), ns_of(found.st_ctim)};
}

void FileWatch::take_events() {
    alignas(inotify_event) std::array<char, 8192> bytes;
    for (ssize_t length = 0; (length = ::read(events_.get(), bytes.data(), bytes.size())) > 0;) {
        for (ssize_t at = 0; at < length;) {
            inotify_event event = {};
            std::memcpy(&event, bytes.data() + at, sizeof event);
            const char* const name = bytes.data() + at + sizeof event;
            // An event without a name says that some were lost.
            is_due_ = is_due_ || event.len == 0 || std::string_view(name) == name_;
            at += static_cast<ssize_t>(sizeof event + event.len);
        }
    }
}

bool FileWatch::may_have_changed() {
    Stamp now = look();
    const bool is_other = now != stamp_;
    const bool was_due = std::exchange(is_due_, false);
    stamp_ = now;
    if (!is_other && !was_due) return false;
    const std::int64_t changed_ms = std::get<4>(now) / 1'000'000;
    // Two writes within a tick leave the same times, so the file counts as changed until the tick
    // is over.
    is_due_ = SystemClock().wall_ms() - changed_ms < kTickMs;
    return true;
}

}  // namespace quire::fs
