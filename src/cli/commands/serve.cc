#include "base/concat.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "cli/compose/compose.h"
#include "server/local_socket.h"

namespace quire::cli {

int serve(const Globals& globals, const ServeOptions& options) {
    if (!options.listen.empty()) {
        complain(
            cat("--listen ", options.listen,
                ": this version does not speak HTTP; without --listen it serves the Unix socket, "
                "which quire mcp and the other commands use. Nothing was started."));
        return kRefused;
    }
    server::LocalServer::block_end_signals();
    StderrLog log;
    auto house = House::open(
        {.workspace = globals.workspace, .version = globals.version, .linger_ms = -1}, log);
    if (!house) return refuse(house.error());
    print(cat("Serving ", (*house)->socket(), " until Ctrl-C.\n"));
    (*house)->run();
    return kDone;
}

}  // namespace quire::cli
