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

}  // namespace quire::tools
