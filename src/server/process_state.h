// The state of another process: a kernel that does not answer.
#pragma once

#include <string>

namespace quire::server {

// Returns true if the process is stopped by a signal (SIGSTOP, Ctrl-Z) or by a debugger. False for
// a process that is gone, or whose state cannot be read.
bool is_stopped(int pid);

// A sentence: what to do about a kernel, process `pid`, that does not answer.
std::string advice_about(int pid);

}  // namespace quire::server
