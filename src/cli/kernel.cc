#include "cli/commands.h"
#include "cli/compose.h"
#include "cli/terminal.h"
#include "server/launch.h"
#include "server/local_socket.h"

namespace quire::cli {

int kernel_process(const Globals& globals, const KernelOptions& options) {
    server::LocalServer::block_end_signals();
    StderrLog log;
    auto house = House::open({.workspace = globals.workspace, .version = globals.version}, log);
    if (!house) {
        server::report_failure(options.ready_fd, house.error());
        log.write(LogLevel::error, house.error().message());
        return kRefused;
    }
    server::report_ready(options.ready_fd);
    (*house)->run();
    return kDone;
}

}  // namespace quire::cli
