#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

using json::Codec;
using kernel::HistoryPage;

struct Args {
    std::string block_id;
    std::size_t limit = 100;
    std::string cursor;
};

}  // namespace

MadeTool make_block_history(kernel::Kernel& kernel) {
    return make_tool<Args>(
        {.name = "block_history",
         .title = "A block's history",
         .description =
             "Who changed a block, newest first. Timestamps are milliseconds since 1970.",
         .annotations = {.read_only = true, .idempotent = true}},
        Fields<Args>()
            .required("block_id", &Args::block_id)
            .optional("limit", &Args::limit, "", {{"minimum", 1}, {"maximum", 1000}})
            .optional("cursor", &Args::cursor),
        Codec<HistoryPage>::fields(),
        [&kernel](const Session& session, Args args, Reply<Answered<HistoryPage>> reply) {
            kernel.history(session.caller, std::move(args.block_id), args.limit,
                           std::move(args.cursor),
                           answer_with(std::move(reply), [](HistoryPage page) {
                               std::string text = history_text(page);
                               return Answered<HistoryPage>{std::move(page), std::move(text)};
                           }));
        });
}

}  // namespace quire::tools
