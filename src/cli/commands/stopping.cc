#include "cli/commands/stopping.h"

#include <filesystem>
#include <system_error>

#include "server/stop_kernel.h"

namespace quire::cli {
namespace {

// It finishes its calls within two seconds; a store on a slow disk may take longer.
constexpr int kStopMs = 15'000;

}  // namespace

Result<int> stop_running_kernel(const Globals& globals) {
    std::error_code missing;
    const std::filesystem::path state = std::filesystem::path(globals.workspace) / ".quire";
    // A workspace that does not exist is left to stop_kernel(), whose error says so.
    const bool is_folder = std::filesystem::is_directory(globals.workspace, missing);
    if (is_folder && !std::filesystem::exists(state, missing)) return 0;
    server::AttachOptions options;
    options.workspace = globals.workspace;
    options.hello = {globals.actor, globals.profile, "cli"};
    return server::stop_kernel(options, kStopMs);
}

}  // namespace quire::cli
