// Places: the directories outside of the workspace that a command with mounts of its own finds empty.
#pragma once

#include <string>
#include <vector>

namespace quire::stage {

// A directory that an empty file system hides.
struct HiddenPlace {
    std::string path;
    bool writable = false;
};

// An outer hidden directory stands before one in it, as they must be mounted.
struct Places {
    std::vector<HiddenPlace> hidden;  // Sorted by path.
    std::vector<std::string> shown;  // Directories below a hidden one that stay visible, read-only.
};

// The places for a command in `workspace`: directories for temporary files and the home are empty and
// writable; other homes, the sockets of servers, and where else the workspace's disk is mounted, are empty.
// `shown`: directories that stay visible where they are there. All paths are absolute, those that are
// answered also without links. `home` may be "".
Places places_of(const std::string& workspace, const std::string& home,
                 const std::vector<std::string>& shown, bool network);

// Returns true if the path is the folder or lies below it.
bool is_below(const std::string& path, const std::string& folder);

}  // namespace quire::stage
