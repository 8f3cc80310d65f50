// block_history: the versions of a block, newest first, a page at a time.
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct BlockHistoryArgs {
    std::string block_id;
    std::size_t limit = 100;
    std::string cursor;
};

}  // namespace

MadeTool make_block_history(kernel::Kernel& kernel) {
    return make_tool<BlockHistoryArgs>(
        {.name = "block_history",
         .title = "A block's history",
         .description =
             "Who changed a block, newest first.",
         .annotations = {.read_only = true, .idempotent = true}},
        Fields<BlockHistoryArgs>()
            .required("block_id", &BlockHistoryArgs::block_id, kBlockIdSays)
            .optional("limit", &BlockHistoryArgs::limit, "At most so many, newest first.",
                      {{"minimum", 1}, {"maximum", 1000}})
            .optional("cursor", &BlockHistoryArgs::cursor, "next_cursor of the page before."),
        ShownHistory::fields(),
        [&kernel](const Session& session, BlockHistoryArgs args,
                  Reply<Answered<ShownHistory>> reply) {
            kernel.history(session.caller, std::move(args.block_id), args.limit,
                           std::move(args.cursor),
                           answer_with(std::move(reply), [](const kernel::HistoryPage& page) {
                               return Answered<ShownHistory>{shown_history(page),
                                                             history_text(page)};
                           }));
        });
}

}  // namespace quire::tools
