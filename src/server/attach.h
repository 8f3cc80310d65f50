// Attaching to a workspace's kernel, starting one where none runs.
#pragma once

#include <string>

#include "base/result.h"
#include "rpc/connection.h"
#include "server/launch.h"
#include "server/state_directory.h"

namespace quire::server {

struct AttachOptions {
    std::string workspace = ".";
    rpc::Hello hello = {};
    bool start = true;  // Start a kernel where none runs.
    Launch launch = {};
};

struct Attached {
    Fd socket;  // After the hello; blocking.
    std::string version;
    int pid = 0;
    Map reads = {};  // As Session::reads() of the kernel's.
};

// However many do this at once, one kernel is started and all are attached to it. Errors:
// unavailable "no_kernel" when it may not start one; what launch_kernel() gives; what the kernel
// answered to the hello.
Result<Attached> attach(const AttachOptions& options);

}  // namespace quire::server
