// quire log: the latest changes, newest first, of all blocks or of one.
//
// The log of all blocks is one request to the kernel. That of one block is its history, read page
// by page until enough entries of the actor are found.
#include <algorithm>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/moment.h"
#include "cli/commands/target.h"
#include "cli/commands/terminal.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

struct LogOptions {
    std::string target;  // "" for all blocks.
    std::string actor;   // "" for everyone.
    std::string since;   // "" for the beginning.
    std::size_t limit = 20;
};

// A page of a block's history has at most so many entries.
constexpr std::size_t kPage = 1000;

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

// Columns are as wide as their longest word, which needs all entries before the first line.
std::string log_table(const List& entries) {
    std::size_t actor_width = 0;
    std::size_t block_width = 0;
    for (const Value& entry : entries) {
        actor_width = std::max(actor_width, json::text_in(entry, "actor").size());
        block_width = std::max(block_width, block_name(entry).size());
    }
    std::string out;
    for (const Value& entry : entries) {
        out += cat(coloured(local_time(moment_in(entry)), Colour::grey), "  ",
                   coloured(padded(json::text_in(entry, "actor"), actor_width), Colour::cyan), "  ",
                   padded(block_name(entry), block_width), "  v",
                   padded(json::text_in(entry, "version_id"), 5), " ",
                   json::text_in(entry, "description"), "\n");
    }
    return out;
}

// The history of one block, newest first, as entries of the log.
Result<List> entries_of(const Globals& globals, const LogOptions& options) {
    CommandClient client = TRY(CommandClient::attach(globals.with_whole_answers()));
    const Target target = TRY(find_target(globals, client, options.target));
    Map page{{"block_id", target.block_id}, {"limit", kPage}};
    List out;
    while (out.size() < options.limit) {
        const Value answer = TRY(client.call("block_history", page));
        const List versions = json::list_in(answer, "versions");
        for (const Value& version : versions) {
            const bool is_theirs =
                options.actor.empty() || json::text_in(version, "actor") == options.actor;
            if (!is_theirs || out.size() == options.limit) continue;
            Map entry;
            append_names(entry, target);
            for (const Map::Entry& member : version.as_map()) entry.append(member.key, member.value);
            out.emplace_back(std::move(entry));
        }
        const std::string cursor = json::text_in(answer, "next_cursor");
        if (cursor.empty()) break;
        page.set("cursor", cursor);
    }
    return out;
}

Result<List> entries_of_all(const Globals& globals, const LogOptions& options) {
    Map params{{"limit", options.limit}};
    if (!options.actor.empty()) params.set("actor", options.actor);
    return json::list_in(TRY(request_once(globals, "log", std::move(params))), "entries");
}

Result<int> run_log(const Globals& globals, const LogOptions& options) {
    List entries = TRY(options.target.empty() ? entries_of_all(globals, options)
                                              : entries_of(globals, options));
    if (!options.since.empty()) {
        const auto since = moment_of(options.since, SystemClock().wall_ms());
        // Entries are newest first, so the limit has kept those that matter.
        std::erase_if(entries, [&](const Value& entry) { return moment_in(entry) < *since; });
    }
    if (globals.json) return output_json(Map{{"entries", std::move(entries)}});
    if (entries.empty()) {
        const std::string who =
            options.actor.empty() ? "nothing has been changed here" : options.actor;
        complain(cat(who, options.actor.empty() ? "" : " has changed nothing here",
                     options.since.empty() ? " yet" : " since then"));
    }
    return output(log_table(entries));
}

void add_log_options(CLI::App& app, LogOptions& options) {
    app.add_option("target", options.target, cat(kTargetSays, "; without one, all blocks"))
        ->type_name(kTargetType);
    app.add_option("-a,--actor", options.actor, "Only this actor's changes")
        ->type_name("ACTOR")
        ->check(check_actor);
    app.add_option("--since", options.since, cat("Only changes since then: ", kMomentForms))
        ->type_name("TIME")
        ->check(check_moment);
    app.add_option("-n,--limit", options.limit, "The number of entries")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
}

}  // namespace

Command log_command() {
    return {.name = "log",
            .about = "Print the latest changes, newest first: of all blocks or of one, everyone's or "
                     "one actor's",
            .example = "quire log src/main.cc --actor agent:ada --limit 5",
            .action = action_with(add_log_options, run_log),
            .touches = Touches::looks};
}

}  // namespace quire::cli
