// Starts a kernel in the background, and reports when it is ready.
//
// The starter waits on a pipe whose other end the kernel inherits. The kernel writes one line to
// it: {"ok":true} once it listens, or {"error":{code,reason,message,details}} when it cannot start.
// A pipe that ends without a line means that the kernel died; its output is in .quire/kernel.log.
#pragma once

#include <string>

#include "base/result.h"
#include "server/state_directory.h"

namespace quire::server {

// The program to run and the time that it has until it is ready.
struct Launch {
    std::string program = "/proc/self/exe";
    int timeout_ms = 10'000;
};

// Runs `program kernel --workspace DIR --ready-fd 3` in a session of its own, with its output in
// .quire/kernel.log, and waits until it is ready. Errors: those that the kernel reports;
// unavailable "kernel_failed" when it died or took too long.
Result<void> launch_kernel(const StateDirectory& directory, const Launch& launch);

// Called by the kernel: its report to the starter. Closes `fd`; below 0 nobody waits.
void report_ready(int fd);
void report_failure(int fd, const Error& error);

}  // namespace quire::server
