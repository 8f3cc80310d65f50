#include "base/cat.h"
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

ToolResult render(const kernel::HistoryPage& page) {
    List versions;
    std::string text = page.versions.empty() ? "No versions.\n" : "";
    for (const kernel::HistoryEntry& entry : page.versions) {
        versions.push_back(Map{{"version_id", entry.version_id},
                               {"timestamp", entry.timestamp},
                               {"actor", entry.actor},
                               {"description", entry.description}});
        text += cat(entry.version_id, "\t", entry.actor, "\t", entry.description, "\n");
    }
    const bool more = !page.next_cursor.empty();
    if (more) text += cat("More with cursor \"", page.next_cursor, "\".\n");
    return {Map{{"versions", std::move(versions)},
                {"next_cursor", more ? Value(page.next_cursor) : Value()}},
            std::move(text)};
}

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
                           answer_with<kernel::HistoryPage>(std::move(reply), render));
        });
}

}  // namespace quire::tools
