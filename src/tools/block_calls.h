// Calls of block tools on a block of whatever kind. A file whose edits are saved with their calls
// goes through the calls of files, which save it; every other block through the kernel's own. Each
// call decides anew, since the setting may change.
#pragma once

#include <string>

#include "base/function.h"
#include "edits/plan.h"
#include "kernel/core/kernel.h"

namespace quire::kernel {
class FileCalls;
}

namespace quire::tools {

// The two ways to a block. Both outlive every call.
struct BlockCalls {
    kernel::Kernel& kernel;
    kernel::FileCalls* files;  // Null where no block is a file.
};

// These are Kernel::edit(), append() and undo(), or those of FileCalls, with their errors; the
// answer is the same either way. Text that is only accepted is not saved: its call ends before the
// text is durable.
void edit_block(const BlockCalls& on, const kernel::Caller& by, std::string block_id,
                std::string operation, edits::Plan plan, Reply<kernel::Edited> reply);
void append_to_block(const BlockCalls& on, const kernel::Caller& by, std::string block_id,
                     std::string text, kernel::Ack ack, Reply<kernel::Appended> reply);
void undo_block(const BlockCalls& on, const kernel::Caller& by, std::string block_id,
                kernel::UndoWhich which, Reply<kernel::Undone> reply);

}  // namespace quire::tools
