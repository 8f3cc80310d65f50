// Files that survive a crash of the machine. A rename alone does not: the file's bytes and the name
// in its directory are two things, and each has to be synced.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace quire {

// Replaces the file as a whole, with a file that only its owner may read. A crash of the machine
// leaves the file before or the file after; once it has returned, the one after. The draft is
// PATH.new, and one that was left there is removed. Two flushes of the disk.
//
// Errors: unavailable "io_error" {path}; then the file before is there, unless only the directory
// could not be synced.
Result<void> replace_durably(const std::string& path, std::string_view bytes);

// The directory that a path's file lies in; "." for a path without a slash.
std::string directory_of(const std::string& path);

// Syncs the directory that the path's file lies in. Returns false, with errno set, if it cannot.
bool sync_directory_of(const std::string& path);

// Makes the name of a file or directory durable, which was made or renamed: syncs the directory that
// it is in. One flush of the disk. Errors: unavailable "io_error" {path}.
Result<void> sync_name(const std::string& path);

}  // namespace quire
