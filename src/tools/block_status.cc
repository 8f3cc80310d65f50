// block_status: the status of a block. The kernel decides which steps are allowed.
#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

using kernel::BlockVersion;

struct BlockStatusArgs {
    std::string block_id;
    conversation::Status status = conversation::Status::pending;
};

}  // namespace

MadeTool make_block_status(kernel::Kernel& kernel) {
    return make_tool<BlockStatusArgs>(
        {.name = "block_status",
         .title = "Set a block's status",
         .description = "Set a block's status: done or error when it is finished, running to "
                        "reopen it. No block "
                        "goes back to pending.",
         .annotations = {.idempotent = true}},
        Fields<BlockStatusArgs>()
            .required("block_id", &BlockStatusArgs::block_id, kBlockIdSays)
            .required("status", &BlockStatusArgs::status, "done can be reopened as running."),
        Fields<BlockVersion>().required("version", &BlockVersion::version),
        [&kernel](const Session& session, const BlockStatusArgs& args,
                  Reply<Answered<BlockVersion>> reply) {
            kernel.set_status(
                session.caller, args.block_id, args.status,
                answer_with(std::move(reply), [status = args.status](const BlockVersion& set) {
                    return Answered<BlockVersion>{set, cat(set.block_id, " is ", name_of(status),
                                                           ", version ", set.version, ".\n")};
                }));
        });
}

}  // namespace quire::tools
