#pragma once

#include <string>
#include <vector>

namespace quire::fs {

// The names of ignore files, such as ".gitignore". In one folder a later name decides before an
// earlier one.
using IgnoreNames = std::vector<std::string>;

}  // namespace quire::fs
