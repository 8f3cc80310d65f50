#include <algorithm>
#include <string>

#include <poll.h>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "cli/exchange/members.h"
#include "json/json.h"

namespace quire::cli {
namespace {

constexpr int kLookMs = 300;

const List& rows_of(const Value& answer) {
    static const List kNone;
    const Value* rows = answer.get("sources");
    return rows != nullptr && rows->is_list() ? rows->as_list() : kNone;
}

// Null where there is none of that name.
const Value* row_named(const Value& answer, const std::string& name) {
    const List& rows = rows_of(answer);
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const Value& row) { return text_of(row, "name") == name; });
    return found == rows.end() ? nullptr : &*found;
}

// Says how far the run is, until it is over.
Result<Value> wait_for(CommandClient& client, const std::string& name) {
    std::string said;
    for (;;) {
        const Value answer = TRY(client.request("sources", {}));
        const Value* row = row_named(answer, name);
        if (row == nullptr || row->get("running") == nullptr || *row->get("running") != Value(true))
            return row == nullptr ? Value(Map{}) : *row;
        const std::string state = text_of(*row, "state");
        if (state != said) complain(cat(name, ": ", state));
        said = state;
        ::poll(nullptr, 0, kLookMs);
    }
}

}  // namespace

int list_sources(const Globals& globals) {
    auto client = CommandClient::attach(globals);
    if (!client) return refuse(client.error());
    const auto answer = client->request("sources", {});
    if (!answer) return refuse(answer.error());
    if (globals.json) return print(json::write(*answer) + "\n") ? kDone : kRefused;
    const List& rows = rows_of(*answer);
    if (rows.empty()) {
        complain(
            "nothing feeds memory here; [sources.diagnostics] in quire.toml lets a compiler do it");
        return kDone;
    }
    std::string out;
    for (const Value& row : rows) {
        out += cat(coloured(text_of(row, "name"), Colour::cyan), "  block ", text_of(row, "label"),
                   "  ", text_of(row, "state"), "\n");
    }
    return print(out) ? kDone : kRefused;
}

int run_source(const Globals& globals, const SourceOptions& options) {
    auto client = CommandClient::attach(globals);
    if (!client) return refuse(client.error());
    const auto begun = client->request("run_source", Map{{"name", options.name}});
    if (!begun) return refuse(begun.error());
    Value row = Map{};
    if (options.wait) {
        auto ended = wait_for(*client, options.name);
        if (!ended) return refuse(ended.error());
        row = std::move(*ended);
    } else {
        const auto answer = client->request("sources", {});
        if (!answer) return refuse(answer.error());
        if (const Value* found = row_named(*answer, options.name)) row = *found;
    }
    const bool printed =
        print(globals.json ? json::write(row) + "\n"
                           : cat(text_of(row, "name"), ": ", text_of(row, "state"), "\n"));
    const Value* failed = row.get("failed");
    return printed && (failed == nullptr || *failed != Value(true)) ? kDone : kRefused;
}

}  // namespace quire::cli
