// Twins: other paths at which the system shows a workspace, or a part of it, because its disk is mounted
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

}  // namespace quire::stage
