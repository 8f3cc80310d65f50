// The page docs/tools.md, written from the tools that a registry publishes.
#pragma once

#include <string>

#include "tools/tool.h"

namespace quire {

// For each profile its tools: what each does, what it takes and what it answers.
std::string tool_page(const tools::Registry& registry);

}  // namespace quire
