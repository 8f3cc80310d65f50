// quire undo: takes back an actor's last change to a block or a file, or does it again.
#include <string>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/commands/workspace_path.h"
#include "conversation/block.h"
#include "json/members.h"
#include "rpc/jsonrpc.h"

namespace quire::cli {
namespace {

struct UndoOptions {
    std::string what;  // A block's id, or a path.
    bool redo = false;
    bool any = false;
};

// A word in the shape of a block's id is one, any other a file's path.
Result<std::string> undo_block(const Globals& globals, CommandClient& client,
                               const std::string& what) {
    if (conversation::BlockId::parse(what)) return what;
    const Value file = TRY(
        client.call("file", Map{{"operation", "status"}, {"path", workspace_path(globals, what)}}));
    const Value* id = file.get("block_id");
    if (id == nullptr || !id->is_string()) return Failure(rpc::error_from(file));
    return id->as_string();
}

Result<int> run_undo(const Globals& globals, const UndoOptions& options) {
    CommandClient client = TRY(CommandClient::attach(globals.with_whole_answers()));
    const std::string block = TRY(undo_block(globals, client, options.what));
    const Value result =
        TRY(client.call(options.redo ? "block_redo" : "block_undo",
                        Map{{"block_id", block}, {"scope", options.any ? "any" : "own"}}));
    if (globals.json) return output_json(result);

    const std::int64_t skipped = json::number_in(result, "skipped_because_changed");
    return output(cat(
        options.redo ? "Redone" : "Undone", " in ", options.what, ": ",
        json::number_in(result, "restored"), " characters restored, ",
        json::number_in(result, "removed"), " removed; now at version ",
        json::number_in(result, "version"), ".\n",
        skipped > 0 ? cat(skipped, " were left alone: others have changed them since.\n") : ""));
}

void add_undo_options(CLI::App& app, UndoOptions& options) {
    app.add_option("what", options.what, "A block's id, or a path in the workspace")
        ->required()
        ->type_name("BLOCK|PATH");
    app.add_flag("--redo", options.redo, "Redo the change that was undone last");
    app.add_flag("--any", options.any, "The last change, whoever made it");
}

}  // namespace

Command undo_command() {
    return {.name = "undo",
            .about = "Undo your last change to a block or a file; others' changes stay",
            .example = "quire undo b1_2_45 --actor agent:ada",
            .action = action_with(add_undo_options, run_undo)};
}

}  // namespace quire::cli
