// Addressed block tools: what the argument `block_id` may be, and how answers name the block.
//
// Beside a block's id, a call may name a file by "file:PATH", which loads it, and a memory block by
// "memory:LABEL" or "memory:OWNER/LABEL". The tool itself works on the id. Its answer about a file
// then carries the file's path, and about a memory block its label and owner. Tools that write
// refuse memory blocks, as the kernel does.
#pragma once

#include <string>
#include <vector>

#include "tools/tools.h"

namespace quire::kernel {
class Sources;
}

namespace quire::tools {

// The calls that look names up. Without sources or memory no block has such a name. All outlive
// whoever keeps this, and copies are cheap.
struct BlockNames {
    kernel::Kernel& kernel;
    const kernel::Sources* sources = nullptr;
    kernel::MemoryCalls* memory = nullptr;
};

// The source that has the block, by its id or its address; null for none. The block need not be
// loaded.
kernel::Source* source_of(const BlockNames& names, const std::string& block_id);

// The ids of blocks that a call names by id, path or label, in their order, one for each name. A
// file that is named is loaded. Stops at the first name that cannot be resolved. Errors: those of
// Source::load() and MemoryCalls::find(); an id that names nothing passes.
void resolve_ids(const BlockNames& names, kernel::Caller by, std::vector<std::string> blocks,
                 Reply<std::vector<std::string>> reply);

// The tool with these spellings of its argument `block_id`, and with `path` in its output schema,
// or `path`, `label` and `owner` if it only reads. A call without block_id goes through as it is.
MadeTool addressed(MadeTool tool, BlockNames names);

}  // namespace quire::tools
