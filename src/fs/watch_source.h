// WatchSource: where a TreeWatch gets its events from. The system's inotify, or a script in tests,
// which loses events or has few watches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quire::fs {

// One event. `mask` has inotify's bits; `name` is the entry in the watched folder, "" for the
// folder itself. `watch` is -1 for the event that says that others were lost.
struct WatchEvent {
    int watch = -1;
    std::uint32_t mask = 0;
    std::string name;
};

// Not thread-safe.
class WatchSource {
public:
    virtual ~WatchSource() = default;
    // Readable when there are events; -1 if there will never be any.
    virtual int fd() const = 0;
    // Watches an open folder. Two watches of one folder are the same. Returns the watch, or a
    // negative errno: -ENOSPC where the system allows no more.
    virtual int add(int folder) = 0;
    virtual void remove(int watch) = 0;
    // Appends events that have come, at most some 64 KiB of them. False when there were none.
    virtual bool read(std::vector<WatchEvent>& events) = 0;
};

// The system's. Where it allows no more instances, every add() fails.
std::unique_ptr<WatchSource> inotify_source();

}  // namespace quire::fs
