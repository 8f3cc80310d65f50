// The relay that `quire mcp` runs: between a client on standard input and output, and the
// workspace's kernel. It reads ids and methods (rpc/message_scan.h) and nothing else.
//
// When the kernel is lost, the relay answers each open request that may have changed something with
// "fate_unknown" and never repeats it. It repeats the requests that change nothing, except batches.
// For the next line it attaches again, and starts a kernel when none runs; that kernel gets the
// `initialize` that the client once sent. Questions that the lost kernel had asked the client are
// cancelled, and a late answer to one of them does not start a kernel.
#pragma once

#include <cstddef>

#include "server/attach.h"

namespace quire::server {

struct ShimOptions {
    AttachOptions attach = {};
    int input = 0;
    int output = 1;
    // The longest line that is taken from the client, where the kernel does not take less.
    std::size_t line_bytes = 64U << 20;
    int drain_ms = 10'000;        // How long answers may take after the end of the input.
    bool ends_on_signals = true;  // SIGINT and SIGTERM end the process at once, with status 0.
};

// Relays until the input has ended and all requests are answered, or the client is gone. Errors:
// those of the first attach(); the client's first requests were answered with it then.
Result<void> run_shim(const ShimOptions& options);

}  // namespace quire::server
