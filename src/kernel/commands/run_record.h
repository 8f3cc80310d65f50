// The audit log's record of a command that ran.
#pragma once

#include <string>

#include "kernel/commands/command_result.h"
#include "kernel/oversight/command_record.h"

namespace quire::kernel {

// The part that is known before the changes are committed; CommandRun::unexpected among it.
CommandRan ran_of(const std::string& command, const CommandRun& run);
// The whole record, after that.
CommandRecord record_of(const std::string& command, const CommandRun& run);

}  // namespace quire::kernel
