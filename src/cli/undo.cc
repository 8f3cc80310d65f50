#include "base/cat.h"
#include "cli/command_client.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "json/json.h"

namespace quire::cli {
namespace {

std::int64_t count(const Value& result, std::string_view name) {
    const Value* value = result.get(name);
    return value != nullptr && value->is_int() ? value->as_int() : 0;
}

}  // namespace

int undo(const Globals& globals, const UndoOptions& options) {
    Globals full = globals;
    full.profile = "full";
    auto client = CommandClient::attach(full);
    if (!client) return refuse(client.error());
    const auto result =
        client->call(options.redo ? "block_redo" : "block_undo",
                     Map{{"block_id", options.block_id}, {"scope", options.any ? "any" : "own"}});
    if (!result) return refuse(result.error());
    if (globals.json) return print(json::write(*result) + "\n") ? kDone : kRefused;

    const std::int64_t skipped = count(*result, "skipped_because_changed");
    const std::string text =
        cat(options.redo ? "Done again" : "Taken back", " in ", options.block_id, ": ",
            count(*result, "restored"), " characters restored, ", count(*result, "removed"),
            " removed; it is now at version ", count(*result, "version"), ".\n",
            skipped > 0 ? cat(skipped, " were left as they are: others have changed them since.\n")
                        : "");
    return print(text) ? kDone : kRefused;
}

}  // namespace quire::cli
