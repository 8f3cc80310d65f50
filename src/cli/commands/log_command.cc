// quire log: the latest changes, newest first.
#include <algorithm>
#include <string>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

struct LogOptions {
    std::string actor;  // "" for everyone.
    std::size_t limit = 20;
};

// The block as people know it: a file's path, a memory block's owner and label with its id, or the
// id alone. Names are others' words, so they are escaped.
std::string block_name(const Value& entry) {
    const std::string id = json::text_in(entry, "block_id");
    const std::string path = json::text_in(entry, "path");
    if (!path.empty()) return cat(text::escape_hidden(path), " (", id, ")");
    const std::string label = json::text_in(entry, "label");
    if (label.empty()) return id;
    return cat(text::escape_hidden(cat(json::text_in(entry, "owner"), "/", label)), " (", id, ")");
}

std::string log_table(const List& entries) {
    std::size_t actor_width = 0;
    std::size_t block_width = 0;
    for (const Value& entry : entries) {
        actor_width = std::max(actor_width, json::text_in(entry, "actor").size());
        block_width = std::max(block_width, block_name(entry).size());
    }
    std::string out;
    for (const Value& entry : entries) {
        out += cat(coloured(local_time(json::number_in(entry, "timestamp")), Colour::grey), "  ",
                   coloured(padded(json::text_in(entry, "actor"), actor_width), Colour::cyan), "  ",
                   padded(block_name(entry), block_width), "  v",
                   padded(json::text_in(entry, "version_id"), 5), " ",
                   json::text_in(entry, "description"), "\n");
    }
    return out;
}

Result<int> run_log(const Globals& globals, const LogOptions& options) {
    Map params{{"limit", options.limit}};
    if (!options.actor.empty()) params.set("actor", options.actor);
    const Value answer = TRY(request_once(globals, "log", std::move(params)));
    if (globals.json) return output_json(answer);
    const List entries = json::list_in(answer, "entries");
    if (entries.empty()) {
        complain(options.actor.empty() ? "nothing has been changed here yet"
                                       : cat(options.actor, " has changed nothing here yet"));
    }
    return output(log_table(entries));
}

void add_log_options(CLI::App& app, LogOptions& options) {
    app.add_option("-a,--actor", options.actor, "Only this actor's changes")
        ->type_name("ACTOR")
        ->check(check_actor);
    app.add_option("-n,--limit", options.limit, "The number of entries")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
}

}  // namespace

Command log_command() {
    return {.name = "log",
            .about = "Print the latest changes, newest first: everyone's, or one actor's",
            .example = "quire log --actor agent:ada --limit 5",
            .action = action_with(add_log_options, run_log),
            .touches = Touches::looks};
}

}  // namespace quire::cli
