// The memory block that shows findings: a section that the source writes, and its config.
#pragma once

#include <string>
#include <string_view>

#include "memory/memory_block.h"

namespace quire::diagnostics {

// The section that source:diagnostics writes and agents read.
inline constexpr std::string_view kFedSection = "diagnostics";

// The block with its schema and its description, before it has a value: the section `diagnostics`,
// which is read-only, and the section `config`, which agents may write.
memory::MemoryBlock make_block(const std::string& label);

}  // namespace quire::diagnostics
