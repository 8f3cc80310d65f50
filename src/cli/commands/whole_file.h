// Files as a whole, for commands: those that a person names, not those of the workspace.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace quire::cli {

// Errors of both: unavailable "disk", naming the file.
Result<std::string> read_file(const std::string& path);

// All of it or what was there before; a link stays one, and what is no file is written to. Its mode
// stays; a new one is everybody's to read.
Result<void> replace_file(const std::string& path, std::string_view text);
// The same, and it is on the disk then; a new one is its owner's alone.
Result<void> keep_file(const std::string& path, std::string_view text);

}  // namespace quire::cli
