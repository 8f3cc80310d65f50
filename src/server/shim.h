// What `quire mcp` runs: a relay between a client on standard input and output and the workspace's
// kernel.
//
// It understands ids and methods and nothing else. When the kernel is lost it answers what was
// under way and may have changed something (its fate is unknown, and it is never repeated), asks
// again what changes nothing, and attaches anew for the next line, starting a kernel where none
// runs; to that kernel it says again the `initialize` that the client once said. Batches are never
// asked again. What the lost kernel had asked the client is taken back, and an answer to it begins
// no kernel.
#pragma once

#include <cstddef>

#include "server/attach.h"

namespace quire::server {

struct ShimOptions {
    AttachOptions attach = {};
    int input = 0;
    int output = 1;
    std::size_t line_bytes = 64U << 20;  // The longest line either side may send.
    int drain_ms = 10'000;               // After the end of the input: how long answers may take.
    bool ends_on_signals = true;  // SIGINT and SIGTERM end the process at once, with status 0.
};

// Relays until the input has ended and what was asked is answered, or the client is gone. Errors:
// those of attach(), before anything was relayed.
Result<void> run_shim(const ShimOptions& options);

}  // namespace quire::server
