// quire refresh: brings what was changed in the workspace into an adopted tree.
#include "cli/commands/command_list.h"
#include "cli/commands/tree_text.h"

namespace quire::cli {

Command refresh_command() {
    return {.name = "refresh",
            .about =
                "Bring what was changed in the workspace into an adopted tree, around edits that "
                "are not landed yet; exit codes as quire land",
            .example = "quire refresh ../ada",
            .action = sync_action("refresh", "is behind")};
}

}  // namespace quire::cli
