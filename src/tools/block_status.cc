#include "base/cat.h"
#include "tools/blocks.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct Args {
    std::string block_id;
    blocks::Status status = blocks::Status::pending;
};

}  // namespace

MadeTool make_block_status(kernel::Kernel& kernel) {
    return make_tool<Args>(
        {.name = "block_status",
         .title = "Set a block's status",
         .description = "Set a block's status: done or error when it is finished, running to "
                        "reopen it. None goes "
                        "back to pending.",
         .annotations = {.idempotent = true},
         .output_schema = object_schema({{"version", "integer"}})},
        Fields<Args>().required("block_id", &Args::block_id).required("status", &Args::status),
        [&kernel](const Session& session, const Args& args, Reply<ToolResult> reply) {
            kernel.set_status(
                session.caller, args.block_id, args.status,
                answer_with<kernel::BlockVersion>(
                    std::move(reply),
                    [status = args.status](const kernel::BlockVersion& set) -> ToolResult {
                        return {Map{{"version", set.version}},
                                cat(set.block_id, " is ", blocks::name_of(status), ", version ",
                                    set.version, ".\n")};
                    }));
        });
}

}  // namespace quire::tools
