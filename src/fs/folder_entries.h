// The entries of one folder, and the ignore files among them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace quire::fs {

// A name in a folder, with its kind as the folder says it: DT_REG and the like of <dirent.h>, and
// DT_UNKNOWN where the file system does not keep it.
struct FolderEntry {
    std::string name;
    unsigned char kind = 0;
};

// The entries of an open folder except "." and "..", in no order. `path` is for the message. Errors:
// those of system_failure().
Result<std::vector<FolderEntry>> entries_in(int folder, const std::string& path);

// The content of an ignore file beneath `root`; none if there is no regular file of a tolerable
// size.
std::optional<std::string> ignore_file_at(int root, const std::string& path);

}  // namespace quire::fs
