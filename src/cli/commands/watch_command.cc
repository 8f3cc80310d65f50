// quire watch: changes of files as they come.
//
// It waits in the kernel: each call returns when there are events, or after kWaitMs, and then
// begins again where the last one ended. The first call makes the subscription and tells nothing
// from before.
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "json/json.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

// Below the time after which a client takes a call for lost.
constexpr std::int64_t kWaitMs = 60'000;

struct WatchOptions {
    std::size_t count = 0;  // 0: without end.
};

std::string event_line(const Value& event) {
    const std::string from = json::text_in(event, "from");
    return cat(padded(json::text_in(event, "change_type"), 9), " ",
               from.empty() ? "" : cat(text::escape_hidden(from), " -> "),
               text::escape_hidden(json::text_in(event, "path")), "  ",
               coloured(json::text_in(event, "actor"), Colour::cyan), "\n");
}

Result<int> run_watch(const Globals& globals, const WatchOptions& options) {
    CommandClient client = TRY(CommandClient::attach(globals));
    Map arguments{{"operation", "events"}};
    for (std::size_t shown = 0;;) {
        const Value answer = TRY(client.call("file", arguments));
        if (!arguments.contains("subscription_id")) {
            arguments.set("subscription_id", json::text_in(answer, "subscription_id"));
            arguments.set("wait_ms", kWaitMs);
            complain("watching; end with Ctrl-C");
        }
        if (const Value* lagged = answer.get("lagged"); lagged != nullptr && *lagged == Value(true))
            complain("earlier changes were dropped, because they came too fast");
        for (const Value& event : json::list_in(answer, "events")) {
            const int failed =
                output(globals.json ? cat(json::write(event), "\n") : event_line(event));
            if (failed != 0) return failed;
            if (++shown == options.count) return 0;
        }
    }
}

void add_watch_options(CLI::App& app, WatchOptions& options) {
    app.add_option("-n,--count", options.count, "End after so many changes")
        ->type_name("N")
        ->check(CLI::Range(1, 1'000'000'000));
}

}  // namespace

Command watch_command() {
    return {.name = "watch",
            .about = "Print changes of files as they come, with who made them",
            .example = "quire watch --json",
            .action = action_with(add_watch_options, run_watch)};
}

}  // namespace quire::cli
