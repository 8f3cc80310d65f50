// Starting a kernel in the background, and how it tells that it is ready.
//
// The starter waits on a pipe whose other end the kernel inherits. The kernel writes one line to
// it: {"ok":true} when it listens, or {"error":{code,reason,message,details}} for why it will not.
// The end of the pipe without a line is a kernel that died; what it said is in .quire/kernel.log.
#pragma once

#include <string>

#include "base/result.h"
#include "server/state_directory.h"

namespace quire::server {

struct Launch {
    std::string program = "/proc/self/exe";
    int timeout_ms = 10'000;
};

// Runs `program kernel --workspace DIR --ready-fd 3` in a session of its own, with its output in
// .quire/kernel.log, and waits until it is ready. Errors: what the kernel said; unavailable
// "kernel_failed" when it died or took too long.
Result<void> launch_kernel(const StateDirectory& directory, const Launch& launch);

// For the kernel: what it has to say to who started it. `fd` is closed; below 0 nobody waits.
void report_ready(int fd);
void report_failure(int fd, const Error& error);

// {"code":…,"reason":…,"message":…,"details":…} and back; what is no such object is an unavailable
// "kernel_failed".
Value error_value(const Error& error);
Error error_from(const Value& value);

}  // namespace quire::server
