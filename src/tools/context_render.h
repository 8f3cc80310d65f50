// What the tool `context` answers: structured, and as a text for a model to read.
#pragma once

#include <string_view>

#include "kernel/memory_calls.h"
#include "tools/tool.h"

namespace quire::tools {

// {label, block_id, version}, as every changing operation answers; `what` says what was done.
ToolResult render_memory_done(const kernel::MemoryVersion& block, std::string_view what);
// The same with what was made under the name `made`; "" for what is not answered.
ToolResult render_memory_written(kernel::MemoryWritten written, std::string_view operation,
                                 std::string_view made);
ToolResult render_memory_undone(const kernel::MemoryUndone& undone, bool redo);
ToolResult render_archived(const kernel::MemoryMoved& moved);
// `dry_run`: what would be done.
ToolResult render_converted(const kernel::MemoryConverted& made, bool dry_run);
ToolResult render_swapped(const kernel::MemoryMoved& moved);

ToolResult render_memory_list(const kernel::MemoryList& list);
ToolResult render_memory_found(const kernel::MemoryFound& found);
ToolResult render_memory_view(kernel::MemoryView view);
ToolResult render_memory_history(const kernel::MemoryHistory& history);
ToolResult render_memory_diff(kernel::MemoryDiff found);

}  // namespace quire::tools
