// The tools that work on files by their path. One file per tool.
#pragma once

#include <memory>

#include "kernel/file_calls.h"
#include "tools/tool.h"

namespace quire::tools {

std::unique_ptr<const Tool> make_file(kernel::Kernel& kernel, kernel::FileCalls& files,
                                      Profile profile);

}  // namespace quire::tools
