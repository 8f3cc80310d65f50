// FileWatch: notices that one file of a directory has changed, been replaced, made or removed.
//
// The file's stamp answers at once, for one system call, and says so also when no event has come
// yet. An event wakes who waits. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "base/fd.h"

namespace quire::fs {

class FileWatch {
public:
    // `name` in `directory`, as it is now.
    FileWatch(const std::string& directory, std::string name);

    // Readable when there are events; -1 where the system allows no more watches.
    int fd() const { return events_.get(); }
    // Takes the events that have come.
    void take_events();
    // Returns true if the file may be another than at the last call. A file that was written a
    // moment ago may be written again under the same stamp, so it counts as another for a while.
    bool may_have_changed();

private:
    // Device, inode, size, and in nanoseconds when its content and its inode changed; all 0 for no
    // file.
    using Stamp =
        std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;
    Stamp look() const;

    std::string name_;
    quire::Fd directory_;
    quire::Fd events_;
    Stamp stamp_;
    bool is_due_ = true;  // An event named it, or it was written a moment before the last look.
};

}  // namespace quire::fs
