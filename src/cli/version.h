// What `quire --version` says. Only the program defines these (cmake/Version.cmake writes them), so
// that a new commit relinks it and rebuilds no room; whoever needs them in a room is handed them by
// main().
#pragma once

#include <string_view>

namespace quire::cli {

std::string_view version();     // "0.1.0"
std::string_view built_from();  // The commit, abbreviated; "unknown" outside version control.

}  // namespace quire::cli
