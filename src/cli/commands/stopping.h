// Ending the kernel that runs in a workspace, for quire stop and quire serve --takeover.
#pragma once

#include "base/result.h"
#include "cli/commands/command.h"

namespace quire::cli {

// Ends it and waits until it is gone. Returns its process, 0 where none runs. Creates nothing.
// Errors: those of server::stop_kernel().
Result<int> stop_running_kernel(const Globals& globals);

}  // namespace quire::cli
