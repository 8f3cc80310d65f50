// PlacedFiles: whether files that are open are still the ones at their paths. A file that was
// removed or moved away can be written and flushed as before, and nobody will ever find it.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"

namespace quire::store {

class PlacedFiles {
public:
    // Remembers which file is at the path now. Errors: unavailable "store_not_writable" when there
    // is none.
    Result<void> add(std::string path);
    // Compares device and inode of each. A system call for each file.
    bool are_in_place() const;

private:
    struct Placed {
        std::string path;
        dev_t device;
        ino_t inode;
    };
    std::vector<Placed> files_;
};

}  // namespace quire::store
