// quire land: brings what was changed in an adopted tree into the workspace.
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands/command_list.h"
#include "cli/commands/tree_text.h"

namespace quire::cli {
namespace {

struct LandOptions {
    std::optional<std::string> directory;
};

void add_land_options(CLI::App& app, LandOptions& options) {
    app.add_option("directory", options.directory,
                   "The adopted tree; absent: the one around the working directory, or every tree "
                   "that has something to land")
        ->type_name("DIR");
}

Result<int> run_land(const Globals& globals, const LandOptions& options) {
    return sync_trees(globals, "land", options.directory);
}

}  // namespace

Command land_command() {
    return {.name = "land",
            .about =
                "Bring what was changed in an adopted tree into the workspace, as one unit: exit "
                "code 0 when all of it is there, 3 when a conflict is left, 4 when files are "
                "being written, 1 when a person is asked or it was refused",
            .example = "quire land ../ada",
            .action = action_with(add_land_options, run_land)};
}

}  // namespace quire::cli
