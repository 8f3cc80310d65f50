// quire sources: the parts of the world that the workspace has as blocks, and a look at one now.
//
// `run` begins a look and returns with the state of the moment, or with --wait when the run has
// ended; its exit code says whether the run failed.
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

// A run takes seconds, so asking is cheap against it and needs no subscription.
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
        return json::text_in(row, "source_id") == name;
    });
    return found == rows.end() ? Value(Map{}) : *found;
}

// Prints the run's progress until the run is over. A state is printed once, when it has changed.
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
    std::string out;
    bool has_diagnostics = false;
    for (const Value& row : json::list_in(answer, "sources")) {
        has_diagnostics = has_diagnostics || json::text_in(row, "source_id") == "diagnostics";
        out += cat(coloured(json::text_in(row, "source_id"), Colour::cyan), "  ",
                   json::text_in(row, "base"), "  ",
                   plural(json::list_in(row, "blocks").size(), "block"), " of ",
                   json::text_in(row, "actor"), "  ", json::text_in(row, "state"), "\n");
    }
    // A look at a workspace whose kernel does not run starts no source that feeds memory.
    if (!has_diagnostics && TRY(load_config(globals.workspace)).diagnostics)
        complain("diagnostics has not run here yet: quire sources run diagnostics runs it");
    return output(out);
}

Result<int> run_source(const Globals& globals, const SourceRunOptions& options) {
    CommandClient client = TRY(CommandClient::attach(globals));
    const Value begun = TRY(client.request("run_source", Map{{"name", options.name}}));
    const std::string source = json::text_in(begun, "source_id");
    const Value row =
        options.wait ? TRY(wait_for_source(client, source)) : TRY(source_row(client, source));
    const int printed =
        globals.json
            ? output_json(row)
            : output(cat(json::text_in(row, "source_id"), ": ", json::text_in(row, "state"), "\n"));
    return is_set(row, "failed") ? kRefused : printed;
}

void add_source_run_options(CLI::App& app, SourceRunOptions& options) {
    app.add_option("name", options.name,
                   "The source's name, as quire sources prints it, or one of its blocks: "
                   "file:PATH, memory:LABEL")
        ->required()
        ->type_name("SOURCE");
    app.add_flag("--wait", options.wait,
                 "Wait until the run has ended; its progress goes to standard error");
}

}  // namespace

Command sources_command() {
    return {.name = "sources",
            .about =
                "List what this workspace takes in from outside, with its blocks: files, and a "
                "compiler's findings ([sources.diagnostics] in quire.toml); or make one look anew",
            .example = "quire sources run diagnostics --wait",
            .action = action_of(list_sources),
            .subcommands = {{.name = "run",
                             .about = "Check now what has changed since the last check",
                             .example = "quire sources run diagnostics --wait",
                             .action = action_with(add_source_run_options, run_source)}},
            .touches = Touches::looks};
}

}  // namespace quire::cli
