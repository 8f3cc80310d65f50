// quire backup: a consistent copy of the store in one file, also while a kernel runs.
//
// A kernel writes the copy itself when one runs, since it holds the store; else this command opens
// the store for as long as it takes.
#include "base/concat.h"
#include "cli/commands/command_list.h"
#include "cli/commands/recovery.h"
#include "cli/commands/terminal.h"
#include "cli/compose/offline_store.h"
#include "text/shell_word.h"

namespace quire::cli {
namespace {

Result<int> run_backup(const Globals& globals, const RecoveryTarget& target) {
    const std::string file = absolute_path(target.path);
    const auto offline = [&]() -> Result<Value> {
        TRY(back_up_offline(globals.workspace, file));
        return Value(Map{});
    };
    TRY(with_or_without_kernel(globals, has_store(globals.workspace), "backup", Map{{"file", file}},
                               offline));
    if (globals.json) return output_json(Map{{"file", file}});
    return output(cat("The workspace's documents, their history and the audit log are in ",
                      text::for_shell(file), ".\nTo begin a workspace with it: quire restore ",
                      text::for_shell(file), "\n"));
}

}  // namespace

Command backup_command() {
    return {.name = "backup",
            .about = "Copy the store into a new file, while work goes on",
            .example = "quire backup ~/backups/project.quire",
            .action = action_with(add_file, run_backup),
            .touches = Touches::looks};
}

}  // namespace quire::cli
