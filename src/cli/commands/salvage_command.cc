// quire salvage: everything that can be read of a store, as texts and Loro blobs.
//
// A running kernel is asked, since it may hold what the disk has not got; else a copy of the store
// is read. The exit code says whether everything was saved.
#include "base/concat.h"
#include "cli/commands/command_list.h"
#include "cli/commands/recovery.h"
#include "cli/commands/terminal.h"
#include "cli/compose/offline_store.h"
#include "json/members.h"
#include "text/shell_word.h"

namespace quire::cli {
namespace {

Result<int> run_salvage(const Globals& globals, const RecoveryTarget& target) {
    const std::string directory = absolute_path(target.path);
    const auto offline = [&]() -> Result<Value> {
        return Value(json::Codec<kernel::Salvaged>::fields().encode(
            TRY(salvage_offline(globals.workspace, directory, globals.version))));
    };
    Value saved = TRY(with_or_without_kernel(globals, has_store(globals.workspace), "salvage",
                                             Map{{"directory", directory}}, offline));
    const bool whole = json::number_in(saved, "partial") == 0 &&
                       json::number_in(saved, "lost") == 0 &&
                       *saved.get("has_audit") == Value(true);
    if (globals.json) {
        saved.as_map().append("directory", directory);
        return output_json(saved) == kDone && whole ? kDone : kRefused;
    }
    const bool printed =
        print(cat("Saved in ", text::for_shell(directory), ": ", json::number_in(saved, "whole"),
                  " documents whole, ", json::number_in(saved, "partial"), " in part; of ",
                  json::number_in(saved, "lost"),
                  " nothing could be read.\nSALVAGE.txt there says what came "
                  "from where, and what is missing.\n"));
    return printed && whole ? kDone : kRefused;
}

}  // namespace

Command salvage_command() {
    return {.name = "salvage",
            .about =
                "Save everything that can be read, as texts and Loro blobs; also of a damaged "
                "store",
            .example = "quire salvage ../rescued",
            .action = action_with(add_directory, run_salvage),
            .touches = Touches::looks};
}

}  // namespace quire::cli
