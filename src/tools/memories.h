// The tools that work on structured memory, and on what people allow.
#pragma once

#include <memory>

#include "kernel/memory_calls.h"
#include "tools/tool.h"

namespace quire::kernel {
class ApprovalCalls;
}

namespace quire::tools {

// `memory` outlives the tool.
std::unique_ptr<const Tool> make_context(kernel::MemoryCalls& memory, Profile profile);

// memory, of profile `compat`: text blocks as files below /memories, as models have learnt it.
std::unique_ptr<const Tool> make_memory(kernel::Kernel& kernel, kernel::MemoryCalls& memory);

// For people alone. `approvals` outlives the tool.
std::unique_ptr<const Tool> make_approvals(kernel::ApprovalCalls& approvals);

}  // namespace quire::tools
