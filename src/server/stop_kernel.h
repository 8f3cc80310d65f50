// Ends the kernel of a workspace from outside.
#pragma once

#include "base/result.h"
#include "server/attach.h"

namespace quire::server {

// Asks the workspace's kernel to end, and waits until its process is gone, at most `timeout_ms`.
// Returns the process that ended; 0 where no kernel runs. It finishes what it has begun, and answers
// the rest as unavailable "kernel_ending". Errors: those of attach() with `start` false; unavailable
// "kernel_silent" {pid} when it is still there.
Result<int> stop_kernel(const AttachOptions& options, int timeout_ms);

}  // namespace quire::server
