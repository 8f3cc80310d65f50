// The system's table of mounts, as far as it tells of a workspace.
//
// Twins are other paths at which the system shows the workspace, or a part of it, because its disk is mounted
// more than once. A command that sees its workspace in a stage must not see it there, as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quire::stage {

// A path that leads to what is at `same_as`, in the workspace or the workspace itself.
struct Twin {
    std::string path;
    std::string same_as;
    friend bool operator==(const Twin&, const Twin&) = default;
};

// The paths that a table of mounts says, in the form of /proc/self/mountinfo. A later mount may hide
// one, so they need not lead there. `workspace`: absolute, without links.
std::vector<Twin> twins_in(std::string_view mounts, const std::string& workspace);

// Those of this process's mounts that lead there. O(mounts).
std::vector<std::string> twins_of(const std::string& workspace);

// The first path below the workspace at which a table of mounts, or this process, has a mount; "" if there
// is none.
std::string mount_below(std::string_view mounts, const std::string& workspace);
std::string mount_below(const std::string& workspace);

}  // namespace quire::stage
