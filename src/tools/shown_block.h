// A block as reading it shows it: block_read, block_view and the reading of files.
#pragma once

#include "kernel/kernel.h"
#include "tools/render.h"
#include "tools/tool.h"

namespace quire::tools {

// {content, metadata, role, kind, status, version, line_count, bytes, eol, final_newline,
// truncated, notes}, and the reason of the status where there is one. `content` has numbers where
// `line_numbers` asks for them; the text always has.
ToolResult render_block(const kernel::BlockText& block, Profile profile, bool line_numbers);
// Shorter for `model`, which says no more than is needed to read it.
Map shown_schema(Profile profile);

}  // namespace quire::tools
