// quire rollback: gives a block the text that it had at a version.
//
// A rollback is an edit like others: a new version with the text of an old one. Memory goes through
// its own tool, which knows its schema and permissions.
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/target.h"
#include "cli/commands/terminal.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

struct RollbackOptions {
    std::string target;
    std::string version;
};

Result<int> run_rollback(const Globals& globals, const RollbackOptions& options) {
    CommandClient client = TRY(CommandClient::attach(globals.with_whole_answers()));
    const Target target = TRY(find_target(globals, client, options.target));
    Map arguments{{"version_id", options.version}};
    if (target.is_memory()) {
        arguments.append("operation", "rollback");
        arguments.append("label", target.block_id);
    } else {
        arguments.append("block_id", target.block_id);
    }
    const Value answer =
        TRY(client.call(target.is_memory() ? "context" : "block_rollback", std::move(arguments)));
    if (globals.json) {
        Map out;
        append_names(out, target);
        out.append("version", json::number_in(answer, "version"));
        return output_json(out);
    }
    return output(cat("Rolled ", text::escape_hidden(options.target), " back to version ",
                      options.version, "; it is now version ", json::number_in(answer, "version"),
                      ". quire undo takes this back.\n"));
}

void add_rollback_options(CLI::App& app, RollbackOptions& options) {
    app.add_option("target", options.target, kTargetSays)->required()->type_name(kTargetType);
    app.add_option("version", options.version, "A version that quire log TARGET shows")
        ->required()
        ->type_name("VERSION");
}

}  // namespace

Command rollback_command() {
    return {.name = "rollback",
            .about = "Give a file or a block the text that it had at a version, by a new edit; its "
                     "history is kept",
            .example = "quire rollback src/main.cc 3",
            .action = action_with(add_rollback_options, run_rollback)};
}

}  // namespace quire::cli
