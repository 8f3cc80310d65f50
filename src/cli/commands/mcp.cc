#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "server/shim.h"

namespace quire::cli {

int mcp(const Globals& globals) {
    server::ShimOptions options;
    options.attach.workspace = globals.workspace;
    options.attach.hello = {globals.actor, globals.profile, "mcp"};
    const auto ended = server::run_shim(options);
    return ended ? kDone : refuse(ended.error());
}

}  // namespace quire::cli
