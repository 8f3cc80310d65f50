// block_rollback: gives a block the text that it had, by a new edit. A file goes back through the
// calls of files, which save it where every edit is saved.
#include "kernel/core/kernel.h"
#include "kernel/core/kinds.h"
#include "kernel/files/file_calls.h"
#include "tools/argument_words.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct BlockRollbackArgs {
    std::string block_id;
    std::string version_id;
};

}  // namespace

MadeTool make_block_rollback(kernel::Kernel& kernel, kernel::FileCalls* files) {
    return make_tool<BlockRollbackArgs>(
        {.name = "block_rollback",
         .title = "Go back to a version",
         .description = "Give a block the text that it had at a version. This is a new edit: later "
                        "versions stay in the history, and block_undo takes it back.",
         .annotations = {.destructive = true}},
        Fields<BlockRollbackArgs>()
            .required("block_id", &BlockRollbackArgs::block_id, kBlockIdSays)
            .required("version_id", &BlockRollbackArgs::version_id,
                      "A version_id of block_history."),
        edit_fields(Profile::full),
        [&kernel, files](const Session& session, BlockRollbackArgs args,
                         Reply<Answered<EditAnswer>> reply) {
            const Profile shown_as = session.profile;
            const kernel::BlockPlace place = kernel.place_of(args.block_id);
            if (files != nullptr && place.kind == kernel::kFileKind) {
                return files->rollback(
                    session.caller, place.path, std::move(args.version_id),
                    answer_with(std::move(reply), [shown_as](const kernel::FileEdited& edited) {
                        return render_edited(edited.edited, shown_as);
                    }));
            }
            kernel.rollback(
                session.caller, std::move(args.block_id), std::move(args.version_id),
                answer_with(std::move(reply), [shown_as](const kernel::Edited& edited) {
                    return render_edited(edited, shown_as);
                }));
        });
}

}  // namespace quire::tools
