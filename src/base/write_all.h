// write_all(): bytes to a descriptor, however few of them it takes at a time.
#pragma once

#include <string_view>

#include "base/result.h"

namespace quire {

// Waits where the descriptor does, and goes on after an interruption. What was written before a
// failure stays written. Errors: unavailable "write_failed" {errno}, the message being the system's
// words and no more; EAGAIN of a descriptor that does not wait is one. A pipe without a reader is
// one where SIGPIPE is ignored. A regular file, a pipe and a socket are written alike.
Result<void> write_all(int fd, std::string_view bytes);

}  // namespace quire
