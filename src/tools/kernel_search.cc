// kernel_search: lines that match a query in all blocks of some kinds, in profile `full`.
#include "kernel/core/kernel.h"
#include "tools/render.h"
#include "tools/search_args.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct KernelSearchArgs {
    std::string query;
    text::Match mode = text::Match::regex;
    std::vector<conversation::Kind> kinds = {conversation::Kind::file};
    std::string path_prefix;
    std::size_t context_lines = 2;
    std::size_t max_matches_per_block = 20;
    std::size_t max_blocks = 20;
};

}  // namespace

MadeTool make_kernel_search(kernel::Kernel& kernel) {
    return make_tool<KernelSearchArgs>(
        {.name = "kernel_search",
         .title = "Search many blocks",
         .description = "Find lines in all blocks of some kinds (files by default), by "
                        "regular expression "
                        "(RE2) or literally. Lines count from 0; match_start and match_end count "
                        "the code points of content.",
         .annotations = {.read_only = true, .idempotent = true}},
        Fields<KernelSearchArgs>()
            .required("query", &KernelSearchArgs::query, "RE2, or text if literal.")
            .optional("mode", &KernelSearchArgs::mode, "How to read query.")
            .optional("kinds", &KernelSearchArgs::kinds, "Default [\"file\"].")
            .optional("path_prefix", &KernelSearchArgs::path_prefix, "Only files below this path.")
            .optional("context_lines", &KernelSearchArgs::context_lines, "Around each.",
                      context_rules())
            .optional("max_matches_per_block", &KernelSearchArgs::max_matches_per_block,
                      "Matches of a block.", count_rules())
            .optional("max_blocks", &KernelSearchArgs::max_blocks, "At most so many blocks.",
                      count_rules()),
        FoundInMany::fields(),
        [&kernel](const Session& session, KernelSearchArgs args,
                  Reply<Answered<FoundInMany>> reply) {
            Result<text::Query> query = text::Query::compile(args.query, args.mode);
            if (!query) return reply(Failure(std::move(query).error()));
            kernel::SearchAll all{
                .search = {std::move(*query), args.context_lines, args.max_matches_per_block},
                .kinds = std::move(args.kinds),
                .path_prefix = std::move(args.path_prefix),
                .max_blocks = args.max_blocks,
            };
            kernel.search_all(session.caller, std::move(all),
                              answer_with(std::move(reply), [shown_as = session.profile](
                                                                const kernel::FoundAll& found) {
                                  return render_found_all(found, shown_as);
                              }));
        });
}

}  // namespace quire::tools
