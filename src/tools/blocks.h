// The tools that work on blocks, each as one profile shows it. One file per tool.
#pragma once

#include <memory>

#include "kernel/kernel.h"
#include "tools/tool.h"

namespace quire::tools {

using MadeTool = std::unique_ptr<const Tool>;

// Of more than one profile.
MadeTool make_block_create(kernel::Kernel& kernel, Profile profile);
MadeTool make_block_append(kernel::Kernel& kernel, Profile profile);
MadeTool make_block_list(kernel::Kernel& kernel, Profile profile);
MadeTool make_block_search(kernel::Kernel& kernel, Profile profile);
MadeTool make_block_undo(kernel::Kernel& kernel, Profile profile);

// Of `full`.
MadeTool make_block_status(kernel::Kernel& kernel);
MadeTool make_block_edit(kernel::Kernel& kernel);
MadeTool make_block_splice(kernel::Kernel& kernel);
MadeTool make_block_read(kernel::Kernel& kernel);
MadeTool make_kernel_search(kernel::Kernel& kernel);
MadeTool make_block_delete(kernel::Kernel& kernel);
MadeTool make_block_redo(kernel::Kernel& kernel);
MadeTool make_block_history(kernel::Kernel& kernel);

// Of `model`.
MadeTool make_block_view(kernel::Kernel& kernel);
MadeTool make_block_str_replace(kernel::Kernel& kernel);
MadeTool make_block_insert(kernel::Kernel& kernel);
MadeTool make_block_replace_lines(kernel::Kernel& kernel);

}  // namespace quire::tools
