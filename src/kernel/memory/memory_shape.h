// MemoryShape: what a memory block's record alone says of it.
#pragma once

#include <string>

#include "memory/block_schema.h"
#include "policy/rights.h"

namespace quire::kernel {

struct MemoryShape {
    std::string label;
    std::string description;
    memory::BlockSchema schema;
    policy::Rights rights;  // Those of the one who asked.
};

}  // namespace quire::kernel
