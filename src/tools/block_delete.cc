#include "base/cat.h"
#include "tools/blocks.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct Args {
    std::string block_id;
};

}  // namespace

MadeTool make_block_delete(kernel::Kernel& kernel) {
    return make_tool<Args>(
        {.name = "block_delete",
         .title = "Delete a block",
         .description = "Delete a block. Its children stay and keep their parent_id; block_undo "
                        "brings it back.",
         .annotations = {.destructive = true},
         .output_schema = object_schema({{"version", "integer"}})},
        Fields<Args>().required("block_id", &Args::block_id),
        [&kernel](const Session& session, Args args, Reply<ToolResult> reply) {
            kernel.erase(
                session.caller, std::move(args.block_id),
                answer_with<kernel::BlockVersion>(
                    std::move(reply), [](const kernel::BlockVersion& deleted) -> ToolResult {
                        return {Map{{"version", deleted.version}},
                                cat(deleted.block_id, " is deleted, version ", deleted.version,
                                    ". block_undo brings it back.\n")};
                    }));
        });
}

}  // namespace quire::tools
