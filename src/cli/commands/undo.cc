#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "conversation/block.h"
#include "json/json.h"
#include "server/launch.h"

namespace quire::cli {
namespace {

std::int64_t count(const Value& result, std::string_view name) {
    const Value* value = result.get(name);
    return value != nullptr && value->is_int() ? value->as_int() : 0;
}

// The block that is meant: an id is one, and whatever is not shaped like one is a file's path.
Result<std::string> block_of(CommandClient& client, const std::string& what) {
    if (conversation::BlockId::parse(what)) return what;
    const Value file = TRY(client.call("file", Map{{"operation", "status"}, {"path", what}}));
    const Value* id = file.get("block_id");
    if (id == nullptr || !id->is_string()) return Failure(server::error_from(file));
    return id->as_string();
}

}  // namespace

int undo(const Globals& globals, const UndoOptions& options) {
    Globals full = globals;
    full.profile = "full";
    auto client = CommandClient::attach(full);
    if (!client) return refuse(client.error());
    const auto block = block_of(*client, options.what);
    if (!block) return refuse(block.error());
    const auto result =
        client->call(options.redo ? "block_redo" : "block_undo",
                     Map{{"block_id", *block}, {"scope", options.any ? "any" : "own"}});
    if (!result) return refuse(result.error());
    if (globals.json) return print(json::write(*result) + "\n") ? kDone : kRefused;

    const std::int64_t skipped = count(*result, "skipped_because_changed");
    const std::string text =
        cat(options.redo ? "Done again" : "Taken back", " in ", options.what, ": ",
            count(*result, "restored"), " characters restored, ", count(*result, "removed"),
            " removed; it is now at version ", count(*result, "version"), ".\n",
            skipped > 0 ? cat(skipped, " were left as they are: others have changed them since.\n")
                        : "");
    return print(text) ? kDone : kRefused;
}

}  // namespace quire::cli
