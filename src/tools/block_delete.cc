// block_delete: marks a block as deleted. Its text and history stay, so that undo can bring it
// back; its children keep their parent_id.
#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

using kernel::BlockVersion;

struct BlockDeleteArgs {
    std::string block_id;
};

}  // namespace

MadeTool make_block_delete(kernel::Kernel& kernel) {
    return make_tool<BlockDeleteArgs>(
        {.name = "block_delete",
         .title = "Delete a block",
         .description = "Delete a block. Its children stay and keep their parent_id; block_undo "
                        "brings it back.",
         .annotations = {.destructive = true}},
        Fields<BlockDeleteArgs>().required("block_id", &BlockDeleteArgs::block_id, kBlockIdSays),
        Fields<BlockVersion>().required("version", &BlockVersion::version),
        [&kernel](const Session& session, BlockDeleteArgs args,
                  Reply<Answered<BlockVersion>> reply) {
            kernel.erase(session.caller, std::move(args.block_id),
                         answer_with(std::move(reply), [](const BlockVersion& deleted) {
                             return Answered<BlockVersion>{
                                 deleted, cat(deleted.block_id, " is deleted, version ",
                                              deleted.version, ". block_undo brings it back.\n")};
                         }));
        });
}

}  // namespace quire::tools
