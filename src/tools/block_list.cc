#include "base/cat.h"
#include "tools/blocks.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct Args {
    std::optional<std::string> conversation;
    std::optional<std::string> parent_id;
    std::optional<blocks::Kind> kind;
    std::optional<blocks::Status> status;
    std::string path_prefix;
    std::size_t depth = 1;
    std::size_t limit = 100;
    std::string cursor;
};

Value row(const kernel::BlockInfo& info) {
    Map out{{"block_id", info.block_id},
            {"parent_id", info.parent_id ? Value(*info.parent_id) : Value()},
            {"role", info.role},
            {"kind", info.kind},
            {"status", info.status},
            {"path", info.path.empty() ? Value() : Value(info.path)},
            {"summary", info.summary},
            {"version", info.version},
            {"line_count", info.line_count},
            {"bytes", info.bytes},
            {"dirty", info.dirty}};
    if (!info.reason.empty()) out.append("reason", info.reason);
    return out;
}

ToolResult render(const kernel::ListPage& page) {
    List blocks;
    std::string text = page.blocks.empty() ? "No blocks.\n" : "";
    for (const kernel::BlockInfo& info : page.blocks) {
        blocks.push_back(row(info));
        text += cat(std::string(2 * info.depth, ' '), info.block_id, " ", info.role, " ", info.kind,
                    " ", status_words(info), " ", version_line(info.version, info.line_count),
                    info.dirty ? ", not saved" : "", info.path.empty() ? "" : " ", info.path,
                    info.summary.empty() ? "" : " | ", info.summary, "\n");
    }
    const bool more = !page.next_cursor.empty();
    if (more) text += cat("More with cursor \"", page.next_cursor, "\".\n");
    return {Map{{"blocks", std::move(blocks)},
                {"next_cursor", more ? Value(page.next_cursor) : Value()}},
            std::move(text)};
}

}  // namespace

MadeTool make_block_list(kernel::Kernel& kernel, Profile profile) {
    const bool full = profile == Profile::full;
    return make_tool<Args>(
        {.name = "block_list",
         .title = "List blocks",
         .description = full ? "Blocks in the order of their documents, each with its place, kind, "
                               "size, version and "
                               "first line."
                             : "List blocks: ids, kinds, versions, first lines.",
         .annotations = {.read_only = true, .idempotent = true},
         .output_schema = object_schema({{"blocks", "array"}, {"next_cursor", "string|null"}})},
        Fields<Args>()
            .optional("conversation", &Args::conversation, full ? "Absent: every document." : "")
            .optional("parent_id", &Args::parent_id)
            .optional("kind", &Args::kind)
            .optional("status", &Args::status)
            .optional("path_prefix", &Args::path_prefix)
            .optional("depth", &Args::depth, full ? "Levels; 0 = all." : "")
            .optional("limit", &Args::limit, "", {{"minimum", 1}, {"maximum", 1000}})
            .optional("cursor", &Args::cursor),
        [&kernel](const Session& session, Args args, Reply<ToolResult> reply) {
            kernel::ListQuery query;
            query.conversation = std::move(args.conversation);
            query.parent_id = std::move(args.parent_id);
            query.kind = args.kind;
            query.status = args.status;
            query.path_prefix = std::move(args.path_prefix);
            query.depth = args.depth;
            query.limit = args.limit;
            query.cursor = std::move(args.cursor);
            kernel.list(session.caller, std::move(query),
                        answer_with<kernel::ListPage>(std::move(reply), render));
        });
}

}  // namespace quire::tools
