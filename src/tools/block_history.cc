#include "tools/blocks.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

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
         .annotations = {.read_only = true, .idempotent = true},
         .output_schema = object_schema({{"versions", "array"}, {"next_cursor", "string|null"}})},
        Fields<Args>()
            .required("block_id", &Args::block_id)
            .optional("limit", &Args::limit, "", {{"minimum", 1}, {"maximum", 1000}})
            .optional("cursor", &Args::cursor),
        [&kernel](const Session& session, Args args, Reply<ToolResult> reply) {
            kernel.history(session.caller, std::move(args.block_id), args.limit,
                           std::move(args.cursor),
                           answer_with<kernel::HistoryPage>(std::move(reply), render_history));
        });
}

}  // namespace quire::tools
