// quire cat: the text of a block or a file as the workspace has it.
//
// It reads the resource that MCP clients read, by its URI, so both see the same text.
#include <string>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/commands/workspace_path.h"
#include "conversation/block.h"
#include "server/file_uri.h"

namespace quire::cli {
namespace {

struct CatOptions {
    std::string what;  // A block's id or a file's path.
};

// A word in the shape of a block's id is one, any other a path. "./b1_0_0" is a file.
std::string resource_uri(const Globals& globals, const std::string& what) {
    if (conversation::BlockId::parse(what)) return cat("block://", what);
    return server::uri_of_path(workspace_path(globals, what));
}

Result<int> run_cat(const Globals& globals, const CatOptions& options) {
    const std::string uri = resource_uri(globals, options.what);
    const Value answer = TRY(request_once(globals, "read", Map{{"uri", uri}}));
    const Value* text = answer.get("text");
    if (text == nullptr || !text->is_string()) return corrupt("the kernel answered without a text");
    return globals.json ? output_json(Map{{"uri", uri}, {"text", *text}})
                        : output(text->as_string());
}

void add_cat_options(CLI::App& app, CatOptions& options) {
    app.add_option("what", options.what, "A block's id, or a path in the workspace")
        ->required()
        ->type_name("BLOCK|PATH");
}

}  // namespace

Command cat_command() {
    return {.name = "cat",
            .about = "Print the text of a block or a file, with edits that are not saved yet",
            .example = "quire cat src/main.cc",
            .action = action_with(add_cat_options, run_cat),
            .touches = Touches::looks};
}

}  // namespace quire::cli
