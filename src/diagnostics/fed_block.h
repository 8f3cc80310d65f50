// The memory block that shows findings: a section that the source writes, and its config.
#pragma once

#include <string>
#include <string_view>

#include "memory/memory_block.h"

namespace quire::diagnostics {

// The section that source:diagnostics writes and agents read.
inline constexpr std::string_view kFedSection = "diagnostics";

memory::MemoryBlock make_block(const std::string& label);

}  // namespace quire::diagnostics
