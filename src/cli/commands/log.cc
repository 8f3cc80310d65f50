#include <algorithm>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "cli/exchange/members.h"
#include "json/json.h"

namespace quire::cli {
namespace {

std::string padded(std::string text, std::size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
}

std::string table(const List& entries) {
    std::size_t actor_width = 0;
    std::size_t block_width = 0;
    for (const Value& entry : entries) {
        actor_width = std::max(actor_width, text_of(entry, "actor").size());
        block_width = std::max(block_width, text_of(entry, "block_id").size());
    }
    std::string out;
    for (const Value& entry : entries) {
        const Value* at = entry.get("timestamp");
        const std::int64_t ms = at != nullptr && at->is_int() ? at->as_int() : 0;
        out +=
            cat(coloured(local_time(ms), Colour::grey), "  ",
                coloured(padded(text_of(entry, "actor"), actor_width), Colour::cyan), "  ",
                padded(text_of(entry, "block_id"), block_width), "  v",
                padded(text_of(entry, "version_id"), 5), " ", text_of(entry, "description"), "\n");
    }
    return out;
}

}  // namespace

int print_log(const Globals& globals, const LogOptions& options) {
    auto client = CommandClient::attach(globals);
    if (!client) return refuse(client.error());
    Map params{{"limit", options.limit}};
    if (!options.actor.empty()) params.set("actor", options.actor);
    const auto answer = client->request("log", std::move(params));
    if (!answer) return refuse(answer.error());
    if (globals.json) return print(json::write(*answer) + "\n") ? kDone : kRefused;

    const Value* entries = answer->get("entries");
    if (entries == nullptr || !entries->is_list()) return kRefused;
    if (entries->as_list().empty()) {
        complain(options.actor.empty() ? "nothing has been done here yet"
                                       : cat(options.actor, " has done nothing here yet"));
        return kDone;
    }
    return print(table(entries->as_list())) ? kDone : kRefused;
}

}  // namespace quire::cli
