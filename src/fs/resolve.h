// From a caller's path to a path without links, for any source of information about the steps.
#pragma once

#include <string>
#include <string_view>

#include "base/function.h"
#include "base/result.h"
#include "fs/file_system.h"

namespace quire::fs {

// The entry at a path whose parents contain no link. `target` is set for a link.
struct Look {
    Kind kind = Kind::missing;
    bool is_link = false;
    std::string target;
    std::string name = {};  // The last component as it is on the disk; "" if it is the path's.
};

// Resolves the path. `..` removes the last component after links are followed, as the system does.
// Errors: denied "outside_workspace" for a path that is absolute, climbs above the top, or meets a
// link that does; invalid_argument "invalid_path" for a NUL, more than 4096 bytes, or over 40
// links; not_found "file_not_found" if a file or nothing is used as a directory.
Result<Place> resolve(std::string_view path, Function<Result<Look>(const std::string& path)> look);

}  // namespace quire::fs
