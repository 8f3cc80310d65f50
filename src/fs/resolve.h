// From a name a caller writes to a path without links, whatever tells what stands at each step.
#pragma once

#include <string>
#include <string_view>

#include "base/function.h"
#include "base/result.h"
#include "fs/file_system.h"

namespace quire::fs {

// What stands at one path whose parents hold no link. `target` when it is a link itself.
struct Look {
    Kind kind = Kind::missing;
    bool is_link = false;
    std::string target;
};

// `..` undoes the last component as the system would: after links are followed. Errors: denied
// "outside_workspace" for what is absolute, climbs above the top, or is a link that does;
// invalid_argument "invalid_path" for a NUL, more than 4096 bytes, or over 40 links; not_found
// "file_not_found" where a file or nothing at all is used as a directory.
Result<Place> resolve(std::string_view path, Function<Result<Look>(const std::string& path)> look);

}  // namespace quire::fs
