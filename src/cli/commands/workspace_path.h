// Paths that a person types: from the directory that they are in, as in every other program.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/commands/command.h"

namespace quire::cli {

// `typed` as a path from the workspace's root. In a workspace that was found above the working
// directory it counts from the working directory, in one that --workspace names from its root. A
// path that leads out of the workspace is returned as it is: the kernel refuses it.
std::string workspace_path(const Globals& globals, const std::string& typed);

}  // namespace quire::cli
