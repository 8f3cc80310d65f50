// block_list: the blocks that the caller may see, in document order, a page at a time. Both
// profiles take the same arguments, and the text form is a tree by indentation, which a model reads
// with fewer words than rows with parent ids.
#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/block_fields.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

using kernel::ListPage;

struct BlockListArgs {
    std::optional<std::string> conversation;
    std::optional<std::string> parent_id;
    std::optional<conversation::Kind> kind;
    std::optional<conversation::Status> status;
    std::string path_prefix;
    std::size_t depth = 1;
    std::size_t limit = 100;
    std::string cursor;
};

// ", excluded, collapsed": the marks that are set.
std::string mark_words(const conversation::Marks& marks) {
    std::string out;
    for (const auto& [key, flag] : conversation::kMarkFields) {
        if (marks.*flag) cat_to(out, cat(", ", key));
    }
    return out;
}

// One line for each block, indented by its depth: id, role, kind, status, size, path, first line.
Answered<ListPage> render_list(ListPage page) {
    std::string text = page.blocks.empty() ? "No blocks.\n" : "";
    for (const kernel::BlockInfo& info : page.blocks) {
        text += cat(std::string(2 * info.depth, ' '), info.block_id, " ", info.role, " ", info.kind,
                    " ", status_words(info), " ", version_line(info.version, info.line_count),
                    info.dirty ? ", not saved" : "", mark_words(info.marks),
                    info.path.empty() ? "" : " ", info.path, info.summary.empty() ? "" : " | ",
                    info.summary, "\n");
    }
    text += cursor_line(page.next_cursor);
    return {std::move(page), std::move(text)};
}

}  // namespace

MadeTool make_block_list(kernel::Kernel& kernel) {
    return make_tool<BlockListArgs>(
        {.name = "block_list",
         .title = "List blocks",
         .description = "Blocks with their first lines.",
         .annotations = {.read_only = true, .idempotent = true}},
        Fields<BlockListArgs>()
            .optional("conversation", &BlockListArgs::conversation, "Absent: all.")
            .optional("parent_id", &BlockListArgs::parent_id, "Only below this block.")
            .optional("kind", &BlockListArgs::kind, "Only such.")
            .optional("status", &BlockListArgs::status, "Only such.")
            .optional("path_prefix", &BlockListArgs::path_prefix, "Files below it.")
            .optional("depth", &BlockListArgs::depth, "Levels; 0: all.")
            .optional("limit", &BlockListArgs::limit, "Most rows.",
                      {{"minimum", 1}, {"maximum", 1000}})
            .optional("cursor", &BlockListArgs::cursor, "From next_cursor."),
        Fields<ListPage>()
            .required("blocks", &ListPage::blocks)
            .kept()
            .nullable("next_cursor", &ListPage::next_cursor),
        [&kernel](const Session& session, BlockListArgs args, Reply<Answered<ListPage>> reply) {
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
                        answer_with(std::move(reply), render_list));
        });
}

}  // namespace quire::tools
