// quire views: the adopted trees, and how each stands to the workspace.
//
// The kernel surveys every tree for it, so the answer tells how the trees are now. A tree whose
// directory is gone is listed until it is dropped.
#include <string>
#include <vector>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/commands/tree_text.h"
#include "json/codec.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

// The number and the first names: a tree may be behind by thousands of files.
std::string waiting_text(std::string_view what, const std::vector<std::string>& paths) {
    constexpr std::size_t kShown = 5;
    if (paths.empty()) return {};
    std::string out = cat("  ", what, " ", paths.size(), ": ");
    for (std::size_t i = 0; i < std::min(paths.size(), kShown); ++i)
        cat_to(out, cat(i == 0 ? "" : ", ", text::escape_hidden(paths[i])));
    if (paths.size() > kShown) cat_to(out, cat(" and ", paths.size() - kShown, " more"));
    return out + "\n";
}

std::string view_text(const server::TreeRow& row) {
    std::string out =
        cat(text::escape_hidden(row.tree), "  ", coloured(row.actor, Colour::cyan), "  base ",
            age_words(row.base_age_s), " old", row.missing ? "  the directory is gone" : "", "\n");
    out += waiting_text("to land", row.to_land);
    out += waiting_text("to refresh", row.to_refresh);
    for (const server::TreeConflictRow& each : row.conflicts) out += conflict_text(each);
    for (const server::TreeLeftRow& each : row.left)
        cat_to(out, cat("  left ", text::escape_hidden(each.path), ": ",
                        text::escape_hidden(each.why), "\n"));
    return out;
}

Result<int> run_views(const Globals& globals) {
    const Value answer = TRY(request_once(globals, "trees"));
    if (globals.json) return output_json(answer);
    const auto rows = json::read<server::TreeRows>(answer);
    if (!rows) return fail(Errc::corrupt, "corrupt", "the kernel's answer makes no sense");
    if (rows->trees.empty())
        complain("no directory is adopted; quire view adopt DIR --actor agent:NAME adopts one");
    std::string out;
    for (const server::TreeRow& row : rows->trees) out += view_text(row);
    return output(out);
}

}  // namespace

Command views_command() {
    return {.name = "views",
            .about =
                "List the adopted trees: whose they are, what waits in each direction, and what "
                "is in conflict",
            .example = "quire views --json",
            .action = action_of(run_views),
            .touches = Touches::looks};
}

}  // namespace quire::cli
