#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/driver/pipe.h"

namespace quire::cli {

int engine() {
    return run_engine(STDIN_FILENO, STDOUT_FILENO);
}

}  // namespace quire::cli
