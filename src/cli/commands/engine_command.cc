// quire engine: the document engine on standard input and output. It needs no workspace and no
// kernel: documents live as long as the command (cli/driver/session.h).
#include <unistd.h>

#include "cli/commands/command_list.h"
#include "cli/driver/pipe.h"

namespace quire::cli {
namespace {

Result<int> run_engine_command(const Globals&) {
    return run_engine(STDIN_FILENO, STDOUT_FILENO);
}

}  // namespace

Command engine_command() {
    return {.name = "engine",
            .about = "Drive the document engine: a JSON request on each line, a reply on each line",
            .example = R"(echo '{"op":"new","doc":"a"}' | quire engine)",
            .action = action_of(run_engine_command),
            .touches = Touches::nothing};
}

}  // namespace quire::cli
