// The directory that a file lies in, by the file's path.
#pragma once

#include <string>

namespace quire::store {

// "." for a path without a slash.
std::string directory_of(const std::string& path);

// Flushes the directory of `path`: a new name or a rename in it survives a loss of power only after
// that. Returns false, with errno set, if it cannot.
bool flush_directory(const std::string& path);

}  // namespace quire::store
