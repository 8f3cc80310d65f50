// MemoryTool: a tool that writes to one memory block, as an actor has it (memory/remember.h).
#pragma once

#include <string>

#include "base/value.h"

namespace quire::kernel {

struct MemoryTool {
    std::string label;        // The block's own.
    std::string description;  // The purpose of the block.
    Map arguments;            // Their JSON Schema.
};

}  // namespace quire::kernel
