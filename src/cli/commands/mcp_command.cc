// quire mcp: an agent's door to the workspace, on standard input and output.
//
// It is a shim: it starts or finds the kernel and passes lines on in both directions
// (server/shim.h). The workspace is not checked here: the shim meets what is wrong with it when it
// attaches.
#include "cli/commands/command_list.h"
#include "server/shim.h"

namespace quire::cli {
namespace {

Result<int> run_mcp(const Globals& globals) {
    server::ShimOptions options;
    options.attach.workspace = globals.workspace;
    options.attach.hello = {globals.actor, globals.profile, "mcp"};
    TRY(server::run_shim(options));
    return kDone;
}

}  // namespace

Command mcp_command() {
    return {.name = "mcp",
            .about = "Speak MCP on standard input and output",
            .example = "quire mcp --workspace ~/project --actor agent:ada --profile full",
            .action = action_of(run_mcp),
            .is_for_programs = true};
}

}  // namespace quire::cli
