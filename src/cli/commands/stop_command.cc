// quire stop: ends the workspace's kernel. It never starts one.
//
// It returns once the process is gone, so that a script may go on with the store. No kernel is no
// failure.
#include <filesystem>
#include <string>
#include <system_error>

#include "base/concat.h"
#include "cli/commands/command_list.h"
#include "cli/commands/stopping.h"
#include "cli/commands/terminal.h"

namespace quire::cli {
namespace {

Result<int> run_stop(const Globals& globals) {
    const int pid = TRY(stop_running_kernel(globals));
    if (globals.json) return output_json(Map{{"stopped", pid != 0}, {"pid", pid}});
    return output(pid == 0 ? std::string("No kernel runs here.\n")
                           : cat("The kernel, process ", pid, ", has ended.\n"));
}

}  // namespace

Command stop_command() {
    return {.name = "stop",
            .about = "End the workspace's kernel, once it has finished what it has begun",
            .example = "quire stop --workspace ~/project",
            .action = action_of(run_stop)};
}

}  // namespace quire::cli
