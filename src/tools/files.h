// The tools that work on files by their path. One file per tool.
#pragma once

#include <memory>

#include "kernel/file_calls.h"
#include "tools/tool.h"

namespace quire::tools {

std::unique_ptr<const Tool> make_file(kernel::Kernel& kernel, kernel::FileCalls& files,
                                      Profile profile);
// str_replace_based_edit_tool, of profile `compat`: as models have learnt it.
std::unique_ptr<const Tool> make_text_editor(kernel::Kernel& kernel, kernel::FileCalls& files);

// `result` with {path, block_id, version} in front.
ToolResult of_file(const kernel::FileVersion& file, ToolResult result);

}  // namespace quire::tools
