// quire restore: begins a workspace with the store of a backup.
//
// No kernel takes part: there is no store yet that one could hold.
#include "base/concat.h"
#include "cli/commands/command_list.h"
#include "cli/commands/recovery.h"
#include "cli/commands/terminal.h"
#include "cli/compose/offline_store.h"

namespace quire::cli {
namespace {

Result<int> run_restore(const Globals& globals, const RecoveryTarget& target) {
    const kernel::StoreCheck check =
        TRY(restore_store(globals.workspace, absolute_path(target.path)));
    if (globals.json) return output_json(json::Codec<kernel::StoreCheck>::encode(check));
    return output(cat("Restored ", plural(check.documents, "document"), " and ",
                      check.audit_entries,
                      " entries of the audit log, after all of them were checked.\n"));
}

}  // namespace

Command restore_command() {
    return {.name = "restore",
            .about = "Give a workspace without a store the one of a backup, if all of it is whole",
            .example = "quire restore ~/backups/project.quire",
            .action = action_with(add_file, run_restore)};
}

}  // namespace quire::cli
