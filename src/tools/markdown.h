// The tools' documentation, from what is published of them.
#pragma once

#include <string>

#include "tools/tool.h"

namespace quire::tools {

// docs/tools.md: for each profile its tools, what they take and what they answer.
std::string markdown(const Registry& registry);

}  // namespace quire::tools
