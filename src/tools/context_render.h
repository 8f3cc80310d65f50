// Renders the answers of the tool `context`: structured content, and the same as text for a
// model.
//
// Each function takes what the kernel answered to one operation and cannot fail. The text names the
// block, what was done and the new version, so that a model need not read the structured part.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

#include "json/fields.h"
#include "kernel/memory/memory_requests.h"
#include "tools/tool.h"

namespace quire::tools {

// The output schema of the tool: all that its operations may answer in profile `full`, and only
// what most of them answer in the others.
Map memory_answer(bool full);

// The answer of a changing operation that returns nothing else; `what` says what was done, as in
// "plan: renamed, now version 3.".
ToolResult render_memory_done(const kernel::MemoryVersion& block, std::string_view what);
// A write, with what it made: how many matches it replaced, the counter's new value, the item that
// it removed. With `nothing`, a write that changed nothing is answered with no_op.
enum class WriteMade { nothing, replacements, value, removed };
ToolResult render_memory_written(const kernel::MemoryWritten& written, WriteMade made);
ToolResult render_memory_undone(const kernel::MemoryUndone& undone, bool redo);
ToolResult render_archived(const kernel::MemoryMoved& moved);
// Every move, every loss and every value that is left to set is a line. For a dry run it says what
// would be done.
ToolResult render_converted(const kernel::MemoryConverted& made, bool dry_run);
ToolResult render_swapped(const kernel::MemoryMoved& moved);

// Answers that only read. Their text is for a model: rows with columns that TABs separate, or the
// block as it is rendered.
ToolResult render_memory_list(const kernel::MemoryList& list);
ToolResult render_memory_found(const kernel::MemoryFound& found);
ToolResult render_memory_view(const kernel::MemoryView& view);
ToolResult render_memory_history(const kernel::MemoryHistory& history);
ToolResult render_memory_diff(const kernel::MemoryDiff& found);

}  // namespace quire::tools
