// quire diff: what differs between two versions of a block, or between a file and the disk.
//
// A diff of files is printed byte for byte when it does not go to a terminal, so that patch(1)
// takes it.
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/target.h"
#include "cli/commands/terminal.h"
#include "json/members.h"

namespace quire::cli {
namespace {

struct DiffOptions {
    std::string target;  // "" for all files with edits that are not saved.
    std::string from, to;
};

Result<std::string> diff_of(CommandClient& client, const std::string& block_id,
                            const DiffOptions& options) {
    Map arguments{{"block_id", block_id}};
    if (!options.from.empty()) arguments.append("from", options.from);
    if (!options.to.empty()) arguments.append("to", options.to);
    return json::text_in(TRY(client.call("block_diff", std::move(arguments))), "diff");
}

Result<int> diff_target(const Globals& globals, CommandClient& client, const DiffOptions& options) {
    const Target target = TRY(find_target(globals, client, options.target));
    const std::string diff = TRY(diff_of(client, target.block_id, options));
    if (!globals.json) return output(drawn_diff(diff));
    Map out;
    append_names(out, target);
    out.append("diff", diff);
    return output_json(out);
}

// Only files with edits that are not on the disk are looked at; of the others the two sides are
// equal.
Result<int> diff_files(const Globals& globals, CommandClient& client, const DiffOptions& options) {
    const Value status = TRY(client.call("file", Map{{"operation", "status"}}));
    const List files = json::list_in(status, "files");
    List out;
    std::string text;
    for (const Value& file : files) {
        const Value* const dirty = file.get("dirty");
        if (dirty == nullptr || *dirty != Value(true)) continue;
        const std::string id = json::text_in(file, "block_id");
        std::string diff = TRY(diff_of(client, id, options));
        if (diff.empty()) continue;
        text += drawn_diff(diff);
        out.push_back(Map{{"block_id", id},
                          {"path", json::text_in(file, "path")},
                          {"diff", std::move(diff)}});
    }
    return globals.json ? output_json(Map{{"files", std::move(out)}}) : output(text);
}

// Versions of one block mean nothing in another, so --from and --to need a target.
Result<int> run_diff(const Globals& globals, const DiffOptions& options) {
    if (options.target.empty() && !(options.from.empty() && options.to.empty())) {
        return invalid("invalid_arguments",
                       "--from and --to name versions of one block: name it as well");
    }
    CommandClient client = TRY(CommandClient::attach(globals.with_whole_answers()));
    return options.target.empty() ? diff_files(globals, client, options)
                                  : diff_target(globals, client, options);
}

void add_diff_options(CLI::App& app, DiffOptions& options) {
    app.add_option("target", options.target,
                   cat(kTargetSays, "; without one, all files with edits that are not saved"))
        ->type_name(kTargetType);
    app.add_option("--from", options.from,
                   "A version; without it, of a file what is on the disk, else the version before")
        ->type_name("VERSION");
    app.add_option("--to", options.to, "A version; without it, the block as it is now")
        ->type_name("VERSION");
}

}  // namespace

Command diff_command() {
    return {.name = "diff",
            .about = "Print what differs between two versions of a block, or between a file and the "
                     "disk, as a unified diff",
            .example = "quire diff src/main.cc --from 3",
            .action = action_with(add_diff_options, run_diff),
            .touches = Touches::looks};
}

}  // namespace quire::cli
