// Attaches to a workspace's kernel, and starts one where none runs.
//
// A process attaches before it does anything else: the commands through LocalClient, `quire mcp`
// through the relay of shim.h. Both go on with the socket that comes out of it.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "rpc/connection.h"
#include "server/launch.h"
#include "server/state_directory.h"

namespace quire::server {

// Which kernel, as whom, and how it is started.
struct AttachOptions {
    std::string workspace = ".";
    rpc::Hello hello = {};
    bool start = true;  // Start a kernel where none runs.
    // The state directory, where it is not the workspace's own (StateDirectory::at()).
    std::string state = {};
    Launch launch = {};
};

// A connection to a kernel that has accepted our hello.
struct Attached {
    Fd socket;  // After the hello; blocking.
    std::string version;
    int pid = 0;
    std::string store = {};  // Tells the kernel's store from every other; "" of an older kernel.
    std::size_t message_bytes = std::size_t{64} << 20;  // The longest line that it takes.
    Map reads = {};                                     // The kernel's Session::reads().
};

// When several processes do this at once, one kernel is started and all attach to it. Blocks while
// a kernel starts, its own or another process's (Launch::timeout_ms for each), and up to 10 seconds
// for the answer to the hello; a stopped kernel is noticed within a second. Errors: unavailable
// "no_kernel" when it may not start one, "kernel_silent" when the kernel does not answer the hello;
// those of StateDirectory and of launch_kernel(); those that the kernel answers to the hello.
Result<Attached> attach(const AttachOptions& options);

}  // namespace quire::server
