// quire sources: what feeds memory from outside, and a run of it now.
#include <algorithm>
#include <string>

#include <CLI/CLI.hpp>
#include <poll.h>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/settings/config.h"
#include "json/members.h"

namespace quire::cli {
namespace {

constexpr int kPollSourceMs = 300;

struct SourceRunOptions {
    std::string name;
    bool wait = false;  // Until the run has ended.
};

bool is_set(const Value& row, std::string_view member) {
    const Value* value = row.get(member);
    return value != nullptr && *value == Value(true);
}

// The source of that name; an empty object if there is none.
Result<Value> source_row(CommandClient& client, const std::string& name) {
    const List rows = json::list_in(TRY(client.request("sources")), "sources");
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Value& row) {
        return json::text_in(row, "name") == name;
    });
    return found == rows.end() ? Value(Map{}) : *found;
}

// Prints the run's progress until the run is over.
Result<Value> wait_for_source(CommandClient& client, const std::string& name) {
    std::string printed;
    for (;;) {
        Value row = TRY(source_row(client, name));
        if (!is_set(row, "running")) return row;
        const std::string state = json::text_in(row, "state");
        if (state != printed) complain(cat(name, ": ", state));
        printed = state;
        ::poll(nullptr, 0, kPollSourceMs);
    }
}

Result<int> list_sources(const Globals& globals) {
    const Value answer = TRY(request_once(globals, "sources"));
    if (globals.json) return output_json(answer);
    const List rows = json::list_in(answer, "sources");
    if (rows.empty()) {
        const Settings settings = TRY(load_config(globals.workspace));
        complain(
            settings.diagnostics
                ? "no source has run here yet: quire sources run diagnostics runs one"
                : "no source feeds memory here; [sources.diagnostics] in quire.toml sets one up");
    }
    std::string out;
    for (const Value& row : rows) {
        out += cat(coloured(json::text_in(row, "name"), Colour::cyan), "  block ",
                   json::text_in(row, "label"), "  ", json::text_in(row, "state"), "\n");
    }
    return output(out);
}

Result<int> run_source(const Globals& globals, const SourceRunOptions& options) {
    CommandClient client = TRY(CommandClient::attach(globals));
    TRY(client.request("run_source", Map{{"name", options.name}}));
    const Value row = options.wait ? TRY(wait_for_source(client, options.name))
                                   : TRY(source_row(client, options.name));
    const int printed =
        globals.json
            ? output_json(row)
            : output(cat(json::text_in(row, "name"), ": ", json::text_in(row, "state"), "\n"));
    return is_set(row, "failed") ? kRefused : printed;
}

void add_source_run_options(CLI::App& app, SourceRunOptions& options) {
    app.add_option("name", options.name, "The source's name, as quire sources prints it")
        ->required()
        ->type_name("SOURCE");
    app.add_flag("--wait", options.wait,
                 "Wait until the run has ended; its progress goes to standard error");
}

}  // namespace

Command sources_command() {
    return {.name = "sources",
            .about =
                "List what feeds memory from outside, such as diagnostics "
                "([sources.diagnostics] in quire.toml), or run a source",
            .example = "quire sources run diagnostics --wait",
            .action = action_of(list_sources),
            .subcommands = {{.name = "run",
                             .about = "Check now what has changed since the last check",
                             .example = "quire sources run diagnostics --wait",
                             .action = action_with(add_source_run_options, run_source)}},
            .touches = Touches::looks};
}

}  // namespace quire::cli
