// A path is compared by the device and the inode that it leads to now. Links are not followed: a
// link in the place of the file is another file. Two files of the same inode number one after the
// other would be taken for one; the store holds its files open, so their numbers are not given
// away.

#include "store/placed_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/stat.h>

#include "base/concat.h"

namespace quire::store {

Result<void> PlacedFiles::add(std::string path) {
    struct stat status = {};
    if (::lstat(path.c_str(), &status) != 0) {
        return fail(Errc::unavailable, "store_not_writable",
                    cat("cannot find ", path, ": ", std::strerror(errno)), {{"file", path}});
    }
    files_.push_back({std::move(path), status.st_dev, status.st_ino});
    return {};
}

bool PlacedFiles::are_in_place() const {
    return std::all_of(files_.begin(), files_.end(), [](const Placed& file) {
        struct stat status = {};
        return ::lstat(file.path.c_str(), &status) == 0 && status.st_dev == file.device &&
               status.st_ino == file.inode;
    });
}

}  // namespace quire::store
