// Whole files that a person names on the command line; not those of the workspace.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace quire::cli {

// Errors of all three: unavailable "disk", naming the file.
Result<std::string> read_file(const std::string& path);

// All of standard input. It waits for the end of the input.
std::string read_standard_input();

// Replaces the file in one step, so that it never holds half of the text. A link stays a link and
// its target is replaced; a pipe or a device is written to. The mode stays; everyone may read a new
// file.
Result<void> replace_file(const std::string& path, std::string_view text);
// replace_file(), and flushes it to the disk; only its owner may read a new file.
Result<void> keep_file(const std::string& path, std::string_view text);

}  // namespace quire::cli
