// Copying a file's bytes, in the cheapest way that the file system has.
#pragma once

#include <string>

#include "base/result.h"

namespace quire::fs {

// Copies all bytes of the file open at `from` to the empty file open at `to`, wherever both stand. Both then
// share their blocks on the disk where the file system can do that, and else the copy has the same holes.
// `path` is for the message. Errors:
// unavailable "io_error", "disk_full" {path}.
Result<void> copy_bytes(int from, int to, const std::string& path);

}  // namespace quire::fs
