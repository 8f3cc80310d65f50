#include <cstdlib>

#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "cli/compose/compose.h"
#include "server/launch.h"
#include "server/local_socket.h"

namespace quire::cli {

int kernel_process(const Globals& globals, const KernelOptions& options) {
    server::LocalServer::block_end_signals();
    StderrLog log;
    HouseOptions house_options{.workspace = globals.workspace, .version = globals.version};
    // How long it stays after its last client has left: for scripts that come and go, and for
    // tests.
    if (const char* const linger = std::getenv("QUIRE_LINGER_MS"))
        house_options.linger_ms = std::atoi(linger);
    auto house = House::open(house_options, log);
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
