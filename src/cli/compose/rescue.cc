// The workspace is held by an O_PATH descriptor from the start. Its present path is what /proc
// shows for the descriptor, so the salvage goes to where the workspace is now, even if it was
// moved. The store is still open: the kernel has its files although their names are gone.
#include "cli/compose/rescue.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/log.h"
#include "kernel/recovery/salvage.h"
#include "server/local_socket.h"

namespace quire::cli {
namespace {

// "20260131T120000Z": a name that sorts, and that every file system takes.
std::string time_for_name(std::int64_t wall_ms) {
    const std::time_t seconds = wall_ms / 1000;
    std::tm parts = {};
    ::gmtime_r(&seconds, &parts);
    std::array<char, 32> text = {};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts)};
}

// The directory's path as it is now. Error: unavailable "directory_not_writable" for one that was
// removed.
Result<std::string> path_of(const Fd& directory) {
    struct stat status = {};
    std::array<char, PATH_MAX> path = {};
    const std::string link = cat("/proc/self/fd/", directory.get());
    // For a removed directory the link still names something, so the count of its names decides.
    const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
    if (!directory || ::fstat(directory.get(), &status) != 0 || status.st_nlink == 0 || length <= 0)
        return fail(Errc::unavailable, "directory_not_writable", "the workspace was removed, too");
    return std::string(path.data(), static_cast<std::size_t>(length));
}

}  // namespace

Rescue::Rescue(const std::string& workspace, std::string version, Clock& clock, LogSink& log)
    : workspace_(::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
      version_(std::move(version)),
      clock_(clock),
      log_(log) {}

Result<std::string> Rescue::save(store::Store& store) const {
    const std::string workspace = TRY(path_of(workspace_));
    const std::int64_t now_ms = clock_.wall_ms();
    std::string directory = cat(workspace, "/quire-salvage-", time_for_name(now_ms));
    TRY(kernel::salvage(store, directory,
                        {.workspace = workspace, .version = version_, .at_ms = now_ms}));
    return directory;
}

// Runs on the store's own thread when it misses its files, or at the end of the store. The server
// is stopped last, under the lock: set_server(nullptr) waits for it, so the server is there while
// it is told to stop. The log is written first, since the end of the server ends the process.
Result<std::string> Rescue::run(store::Store& store) {
    Result<std::string> saved = save(store);
    log_.write(LogLevel::error, cat("ends: .quire was removed or moved. ",
                                    saved ? cat("What the kernel held is in ", *saved)
                                          : cat("What the kernel held could not be saved: ",
                                                saved.error().message())));
    state_.with([](State& state) {
        state.has_run = true;
        if (state.server != nullptr) state.server->stop();
    });
    return saved;
}

void Rescue::set_server(server::LocalServer* server) {
    state_.with([&](State& state) {
        state.server = server;
        if (server != nullptr && state.has_run) server->stop();
    });
}

bool Rescue::has_run() const {
    return state_.with([](const State& state) { return state.has_run; });
}

}  // namespace quire::cli
