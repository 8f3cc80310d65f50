// Syncs: when a caller may take it that every change made before its question has been seen.
//
// A sync makes a file, a cookie, in a folder that the same source watches. Events come in order, so
// those of all earlier changes have been taken once the cookie's is.
#include <algorithm>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "fs/tree_watch.h"

namespace quire::fs {
namespace {

// Within the state directory, which is not watched itself.
constexpr const char* kCookies = ".quire/watch";

}  // namespace

void TreeWatch::watch_cookies() {
    static_cast<void>(::mkdirat(root_fd_.get(), kCookies, 0700));
    const Result<Fd> opened = open_beneath(root_fd_.get(), kCookies, O_RDONLY | O_DIRECTORY);
    if (opened) cookie_watch_ = source_->add(opened->get());
}

void TreeWatch::make_cookie(Sync& sync) {
    const std::string name = cat(kCookies, "/", sync.number);
    const Result<Fd> made = cookie_watch_ < 0 ? Result<Fd>(Fd())
                                              : open_beneath(root_fd_.get(), name,
                                                             O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
    if (!made || !*made) {
        // Without a cookie a look at the whole tree has to do: it finds all that was there when it
        // began.
        sync.is_seen = is_rescan_due_ = true;
        return;
    }
    static_cast<void>(::unlinkat(root_fd_.get(), name.c_str(), 0));
}

std::uint64_t TreeWatch::ask_sync() {
    syncs_.push_back({++last_sync_, clock_.steady_ms(), false});
    make_cookie(syncs_.back());
    return last_sync_;
}

// The events before it have been taken; a look at the tree finds what has none.
void TreeWatch::take_cookie(const std::string& name) {
    for (Sync& sync : syncs_) {
        if (std::to_string(sync.number) == name) sync.is_seen = is_rescan_due_ = true;
    }
}

// A sync is reached when no file waits any more that was touched before it was seen.
void TreeWatch::finish_syncs() {
    if (syncs_.empty() || is_rescan_due_) return;
    const std::uint64_t newest = last_sync_ + 1;
    std::uint64_t waiting = newest;
    for (const auto& [path, file] : touched_) {
        if (file.sync != 0) waiting = std::min(waiting, file.sync);
    }
    while (!syncs_.empty() && syncs_.front().is_seen && syncs_.front().number < waiting) {
        reached_sync_ = syncs_.front().number;
        syncs_.erase(syncs_.begin());
    }
}

}  // namespace quire::fs
