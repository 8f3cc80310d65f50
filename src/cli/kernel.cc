#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/compose.h"
#include "cli/terminal.h"
#include "server/launch.h"
#include "server/local_socket.h"

namespace quire::cli {
namespace {

constexpr int kHeapStep = 1 << 20;

// The memory that a start needs, at once: on some virtual machines a page that is met on its own
// costs 25 us, and a client waits for all of them. Where the system cannot (before Linux 5.14) they
// come one by one.
void take_first_memory() {
    constexpr std::uintptr_t kPage = 4096;
    ::mallopt(M_TOP_PAD, kHeapStep);
    void* const first = std::malloc(kPage * 16);
    const std::uintptr_t begin =
        (reinterpret_cast<std::uintptr_t>(first) + kPage - 1) & ~(kPage - 1);
    const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
    if (first != nullptr && begin < end && end - begin <= 2 * std::size_t{kHeapStep})
        ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
    std::free(first);
}

}  // namespace

int kernel_process(const Globals& globals, const KernelOptions& options) {
    take_first_memory();
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
