// The version that `quire --version` prints. Only the program defines these functions
// (cmake/Version.cmake writes them), so that a new commit relinks it and rebuilds no room; main()
// passes the values to the room that needs them.
#pragma once

#include <string_view>

namespace quire::cli {

std::string_view version();     // "0.1.0"
std::string_view built_from();  // The commit, abbreviated; "unknown" outside version control.

}  // namespace quire::cli
