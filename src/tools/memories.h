// The tools that work on structured memory.
#pragma once

#include <memory>

#include "kernel/memory_calls.h"
#include "tools/tool.h"

namespace quire::tools {

// `memory` outlives the tool.
std::unique_ptr<const Tool> make_context(kernel::MemoryCalls& memory, Profile profile);

}  // namespace quire::tools
