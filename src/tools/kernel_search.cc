// kernel_search: lines that match a query in all files and blocks of some kinds, in profile `full`.
// The index rules out most files before they are read (kernel/files/workspace_search.h), so
// `searched` tells how thorough an answer without matches is.
#include "kernel/files/workspace_search.h"
#include "tools/render.h"
#include "tools/search_args.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct KernelSearchArgs {
    std::string query;
    text::Match mode = text::Match::regex;
    std::vector<kernel::SearchKind> kinds = kernel::SearchAll().kinds;
    std::string path_prefix;
    std::size_t context_lines = 2;
    std::size_t max_matches_per_block = 20;
    std::size_t max_blocks = 20;
};

}  // namespace

MadeTool make_kernel_search(kernel::WorkspaceSearch& search) {
    return make_tool<KernelSearchArgs>(
        {.name = "kernel_search",
         .title = "Search the workspace",
         .description =
             "Find lines in all blocks of some kinds, by regular expression (RE2) or literally: "
             "by default in every file that you may read and that ignore files do not leave out, "
             "opened or not. Lines count from 0; match_start and match_end count the code points "
             "of the matched line, whatever lines of context content has. searched counts files, "
             "conversations and memory blocks: ruled out by the index, scanned, or left.",
         .annotations = {.read_only = true, .idempotent = true}},
        Fields<KernelSearchArgs>()
            .required("query", &KernelSearchArgs::query, "RE2, or text if literal.")
            .optional("mode", &KernelSearchArgs::mode, "How to read query.")
            .optional("kinds", &KernelSearchArgs::kinds,
                      "Default [\"file\"]; memory: blocks of memory.")
            .optional("path_prefix", &KernelSearchArgs::path_prefix, "Only files below this path.")
            .optional("context_lines", &KernelSearchArgs::context_lines, "Around each.",
                      context_rules())
            .optional("max_matches_per_block", &KernelSearchArgs::max_matches_per_block,
                      "Matches of a block.", count_rules())
            .optional("max_blocks", &KernelSearchArgs::max_blocks, "At most so many blocks.",
                      count_rules()),
        FoundInMany::fields(),
        [&search](const Session& session, KernelSearchArgs args,
                  Reply<Answered<FoundInMany>> reply) {
            Result<text::Query> query = text::Query::compile(args.query, args.mode);
            if (!query) return reply(Failure(std::move(query).error()));
            kernel::SearchAll all{
                .search = {std::move(*query), args.context_lines, args.max_matches_per_block},
                .kinds = std::move(args.kinds),
                .path_prefix = std::move(args.path_prefix),
                .max_blocks = args.max_blocks,
            };
            search.search(session.caller, std::move(all),
                          answer_with(std::move(reply),
                                      [shown_as = session.profile](const kernel::FoundAll& found) {
                                          return render_found_all(found, shown_as);
                                      }));
        });
}

}  // namespace quire::tools
