// block_search: lines that match a query, in one block.
//
// In profile `model` block_id may be left out, which searches everywhere: there kernel_search is
// not published. The two forms answer different structs, so the output schema joins both.
#include "kernel/core/kernel.h"
#include "kernel/files/workspace_search.h"
#include "tools/argument_words.h"
#include "tools/render.h"
#include "tools/search_args.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

using json::Codec;

struct BlockSearchArgs {
    std::optional<std::string> block_id;
    std::string query;
    text::Match mode = text::Match::regex;
    std::size_t context_lines = 2;
    std::size_t max_matches = 20;
};

// Only the order and the need of block_id differ between profiles.
Fields<BlockSearchArgs> block_search_fields(Profile profile) {
    Fields<BlockSearchArgs> out;
    out.required("query", &BlockSearchArgs::query, "RE2, or text if literal.");
    if (profile == Profile::full) {
        out.required("block_id", &BlockSearchArgs::block_id, kBlockIdSays);
    } else {
        out.optional("block_id", &BlockSearchArgs::block_id, "Absent: everywhere, in all files too.");
    }
    out.optional("mode", &BlockSearchArgs::mode, "How to read query.")
        .optional("context_lines", &BlockSearchArgs::context_lines, "Around each.", context_rules())
        .optional("max_matches", &BlockSearchArgs::max_matches, "Per block.", count_rules());
    return out;
}

Map block_search_answer(Profile profile) {
    if (profile == Profile::full) return Codec<Found>::schema();
    return one_of({Codec<Found>::schema(), Codec<FoundInMany>::schema()});
}

// Searches all kinds of blocks; files and memory, too. The number of blocks is bounded by the
// default of SearchAll.
void everywhere(kernel::WorkspaceSearch& search, const Session& session, kernel::SearchQuery query,
                Reply<ToolResult> reply) {
    kernel::SearchAll all{.search = std::move(query), .kinds = {}, .path_prefix = {}};
    all.kinds.assign(kEvery<kernel::SearchKind>.begin(), kEvery<kernel::SearchKind>.end());
    search.search(
        session.caller, std::move(all),
        answer_with(std::move(reply), [shown_as = session.profile](const kernel::FoundAll& found) {
            return result_of(render_found_all(found, shown_as));
        }));
}

}  // namespace

MadeTool make_block_search(kernel::Kernel& kernel, kernel::WorkspaceSearch& all, Profile profile) {
    return make_tool<BlockSearchArgs>(
        {.name = "block_search",
         .title = profile == Profile::full ? "Search a block" : "Search blocks",
         .description =
             profile == Profile::full
                 ? "Find lines of a block, by regular expression (RE2) or literally. Lines count "
                   "from 0; content is the line with the lines around it, and match_start and "
                   "match_end say where in its line the match lies, in code points."
                 : "Find lines, in one block or all.",
         .annotations = {.read_only = true, .idempotent = true},
         .answer = block_search_answer(profile)},
        block_search_fields(profile),
        [&kernel, &all](const Session& session, const BlockSearchArgs& args,
                        Reply<ToolResult> reply) {
            Result<text::Query> query = text::Query::compile(args.query, args.mode);
            if (!query) return reply(Failure(std::move(query).error()));
            kernel::SearchQuery search{std::move(*query), args.context_lines, args.max_matches};
            if (!args.block_id) {
                everywhere(all, session, std::move(search), std::move(reply));
                return;
            }
            kernel.search(
                session.caller, *args.block_id, std::move(search),
                answer_with(std::move(reply), [shown_as = session.profile,
                                               id = *args.block_id](const edits::Finding& found) {
                    return result_of(render_found(id, found, shown_as));
                }));
        });
}

}  // namespace quire::tools
