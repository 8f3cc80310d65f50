// block_rollback: gives a block the text that it had, by a new edit. The block of a source goes back
// through the source: a file is saved there, where every edit is saved.
#include "kernel/core/kernel.h"
#include "kernel/core/source.h"
#include "tools/addressed.h"
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

MadeTool make_block_rollback(const BlockNames& of) {
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
        [of](const Session& session, BlockRollbackArgs args, Reply<Answered<EditAnswer>> reply) {
            const Profile shown_as = session.profile;
            if (kernel::Source* const source = source_of(of, args.block_id)) {
                return source->rollback(
                    session.caller, std::move(args.block_id), std::move(args.version_id),
                    answer_with(std::move(reply),
                                [shown_as](const kernel::OfBlock<kernel::Edited>& edited) {
                                    return render_edited(edited.answer, shown_as);
                                }));
            }
            of.kernel.rollback(
                session.caller, std::move(args.block_id), std::move(args.version_id),
                answer_with(std::move(reply), [shown_as](const kernel::Edited& edited) {
                    return render_edited(edited, shown_as);
                }));
        });
}

}  // namespace quire::tools
