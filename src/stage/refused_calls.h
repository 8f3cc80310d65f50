// The filter of system calls for staged commands.
#pragma once

#include "base/result.h"
#include "process/call_filter.h"

namespace quire::stage {

// Refuses what no command needs, and by which it could leave its stage or reach what is outside.
// About a millisecond. Errors: unavailable "no_confinement".
Result<process::CallFilter> make_filter();
// Refuses also what namespaces would keep within the stage: changes of the permissions, owners, times and
// attributes of files, signals, the leaving of the process's group, shared memory of the system, and, without
// `network`, sockets. Errors: unavailable "no_confinement".
Result<process::CallFilter> make_narrow_filter(bool network);

}  // namespace quire::stage
