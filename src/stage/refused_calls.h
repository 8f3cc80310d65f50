// The filter of system calls for staged commands.
#pragma once

#include "base/result.h"
#include "process/call_filter.h"

namespace quire::stage {

// Refuses what no command needs, and by which it could leave its stage or reach what is outside.
// About a millisecond. Errors: unavailable "no_confinement".
Result<process::CallFilter> make_filter();

}  // namespace quire::stage
