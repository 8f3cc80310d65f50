// quire land: brings what was changed in an adopted tree into the workspace.
#include "cli/commands/command_list.h"
#include "cli/commands/tree_text.h"

namespace quire::cli {

Command land_command() {
    return {.name = "land",
            .about =
                "Bring what was changed in an adopted tree into the workspace, as one unit: exit "
                "code 0 when all of it is there, 3 when a conflict is left, 4 when files are "
                "being written, 1 when a person is asked or it was refused",
            .example = "quire land ../ada",
            .action = sync_action("land", "has something to land")};
}

}  // namespace quire::cli
