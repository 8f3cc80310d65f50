// quire refresh: brings what was changed in the workspace into an adopted tree.
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands/command_list.h"
#include "cli/commands/tree_text.h"

namespace quire::cli {
namespace {

struct RefreshOptions {
    std::optional<std::string> directory;
};

void add_refresh_options(CLI::App& app, RefreshOptions& options) {
    app.add_option("directory", options.directory,
                   "The adopted tree; absent: the one around the working directory, or every tree "
                   "that is behind")
        ->type_name("DIR");
}

Result<int> run_refresh(const Globals& globals, const RefreshOptions& options) {
    return sync_trees(globals, "refresh", options.directory);
}

}  // namespace

Command refresh_command() {
    return {.name = "refresh",
            .about =
                "Bring what was changed in the workspace into an adopted tree, around edits that "
                "are not landed yet; exit codes as quire land",
            .example = "quire refresh ../ada",
            .action = action_with(add_refresh_options, run_refresh)};
}

}  // namespace quire::cli
