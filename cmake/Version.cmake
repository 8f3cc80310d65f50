# Writes OUT, the definitions of src/cli/version.h, where they differ from what is there.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
    set(commit "unknown")
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
#include "cli/version.h"

namespace quire::cli {

std::string_view version() { return "@VERSION@"; }
std::string_view built_from() { return "@commit@"; }

}  // namespace quire::cli
]])
