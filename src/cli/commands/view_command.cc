// quire view: adopts a directory in which somebody else works on a copy of the workspace's files, such as a
// git worktree of a coding agent, or drops it.
//
// The person at this machine adopts. --actor names whose work the changes in the tree are, unlike
// in other commands, where it names who acts.
#include <string>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/commands/tree_text.h"
#include "cli/settings/person.h"
#include "json/codec.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

struct ViewOptions {
    std::string directory;
};

Result<server::TreeRow> asked_row(const Value& answer) {
    auto row = json::read<server::TreeRow>(answer);
    if (!row) return fail(Errc::corrupt, "corrupt", "the kernel's answer makes no sense");
    return std::move(*row);
}

Result<int> adopt_view(const Globals& globals, const ViewOptions& options) {
    // The option names whose work the tree is; the person who types it adopts it.
    if (!globals.actor_named) {
        return invalid(
            "invalid_arguments",
            "name the actor whose work the changes in the directory are: --actor agent:NAME");
    }
    Globals person = globals;
    person.actor = person_here().str();
    const Value answer = TRY(request_once(
        person, "adopt_tree",
        {{"directory", typed_directory(options.directory)}, {"actor", globals.actor}}));
    if (globals.json) return output_json(answer);
    const server::TreeRow row = TRY(asked_row(answer));
    std::string out = cat("Adopted ", text::escape_hidden(row.tree), " for ", row.actor, ".\n");
    if (!row.to_land.empty())
        cat_to(out, cat(plural(row.to_land.size(), "file"), " to land: quire land\n"));
    if (!row.to_refresh.empty())
        cat_to(out, cat(plural(row.to_refresh.size(), "file"),
                        " behind the workspace: quire refresh\n"));
    return output(out);
}

Result<int> drop_view(const Globals& globals, const ViewOptions& options) {
    const Value answer = TRY(
        request_once(globals, "drop_tree", {{"directory", typed_directory(options.directory)}}));
    if (globals.json) return output_json(answer);
    const server::TreeRow row = TRY(asked_row(answer));
    return output(cat("Dropped ", text::escape_hidden(row.tree),
                      ". Its files stay as they are; what was not landed is only there.\n"));
}

void add_view_options(CLI::App& app, ViewOptions& options) {
    app.add_option("directory", options.directory, "The directory")->required()->type_name("DIR");
}

}  // namespace

Command view_command() {
    return {
        .name = "view",
        .about =
            "Adopt a directory with a copy of the workspace's files, such as a git worktree, "
            "in which an agent works; or drop it",
        .example = "quire view adopt ../ada --actor agent:ada",
        .subcommands = {{.name = "adopt",
                         .about = "Make the directory a tree of this workspace, whose changes are "
                                  "the work of --actor",
                         .example = "quire view adopt ../ada --actor agent:ada",
                         .action = action_with(add_view_options, adopt_view)},
                        {.name = "drop",
                         .about = "Forget the tree; its files stay as they are",
                         .example = "quire view drop ../ada",
                         .action = action_with(add_view_options, drop_view)}}};
}

}  // namespace quire::cli
