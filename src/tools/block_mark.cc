// block_mark: what a conversation's readers note on a block.
#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

using kernel::BlockVersion;

struct BlockMarkArgs {
    std::string block_id;
    kernel::MarkChange change;
};

}  // namespace

MadeTool make_block_mark(kernel::Kernel& kernel) {
    using kernel::MarkChange;
    return make_tool<BlockMarkArgs>(
        {.name = "block_mark",
         .title = "Mark a block",
         .description = "Set or take away marks of a block. Excluded and ephemeral blocks are left "
                        "out of prompts and of what models are shown.",
         .annotations = {.idempotent = true}},
        Fields<BlockMarkArgs>()
            .required("block_id", &BlockMarkArgs::block_id, kBlockIdSays)
            .members(Fields<MarkChange>()
                         .optional("excluded", &MarkChange::excluded,
                                   "Models are not to see it. Absent: as it is.")
                         .optional("collapsed", &MarkChange::collapsed,
                                   "Its first line is enough. Absent: as it is.")
                         .optional("ephemeral", &MarkChange::ephemeral,
                                   "Of use for a moment only. Absent: as it is."),
                     &BlockMarkArgs::change),
        Fields<BlockVersion>().required("version", &BlockVersion::version),
        [&kernel](const Session& session, BlockMarkArgs args, Reply<Answered<BlockVersion>> reply) {
            kernel.mark(session.caller, std::move(args.block_id), args.change,
                        answer_with(std::move(reply), [](const BlockVersion& marked) {
                            return Answered<BlockVersion>{
                                marked, cat(marked.block_id, " is marked so, version ",
                                            marked.version, ".\n")};
                        }));
        });
}

}  // namespace quire::tools
