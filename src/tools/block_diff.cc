// block_diff: the difference of two versions of a block, of whatever kind. The block of a source is
// compared by the source: a file with the disk, where no older version is named.
#include "kernel/core/kernel.h"
#include "kernel/core/kinds.h"
#include "kernel/core/source.h"
#include "kernel/memory/memory_calls.h"
#include "tools/addressed.h"
#include "tools/argument_words.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct BlockDiffArgs {
    std::string block_id;
    std::optional<std::string> from;
    std::optional<std::string> to;
};

Answered<ShownDiff> render_block_diff(std::string diff) {
    std::string text = diff_text(diff);
    return {{std::move(diff)}, std::move(text)};
}

}  // namespace

MadeTool make_block_diff(const BlockNames& of) {
    return make_tool<BlockDiffArgs>(
        {.name = "block_diff",
         .title = "What changed in a block",
         .description = "The difference between two versions of a block, as a unified diff.",
         .annotations = {.read_only = true, .idempotent = true}},
        Fields<BlockDiffArgs>()
            .required("block_id", &BlockDiffArgs::block_id, kBlockIdSays)
            .optional("from", &BlockDiffArgs::from,
                      "A version_id of block_history. Without it: of a file what is on the disk, "
                      "else the version before.")
            .optional("to", &BlockDiffArgs::to, "A version_id. Without it: the block now."),
        ShownDiff::fields(),
        [of](const Session& session, BlockDiffArgs args, Reply<Answered<ShownDiff>> reply) {
            if (kernel::Source* const source = source_of(of, args.block_id)) {
                return source->diff(
                    session.caller, std::move(args.block_id), std::move(args.from),
                    std::move(args.to),
                    answer_with(std::move(reply), [](kernel::OfBlock<kernel::BlockDiff> made) {
                        return render_block_diff(std::move(made.answer.diff));
                    }));
            }
            // A memory block is compared as its text is rendered, which its own calls do.
            if (of.memory != nullptr &&
                of.kernel.place_of(args.block_id).kind == kernel::kMemoryKind) {
                return of.memory->diff(session.caller, std::move(args.block_id),
                                       std::move(args.from), std::move(args.to),
                                       answer_with(std::move(reply), [](kernel::MemoryDiff made) {
                                           return render_block_diff(std::move(made.diff));
                                       }));
            }
            of.kernel.diff(session.caller, std::move(args.block_id), std::move(args.from),
                           std::move(args.to),
                           answer_with(std::move(reply), [](kernel::BlockDiff made) {
                               return render_block_diff(std::move(made.diff));
                           }));
        });
}

}  // namespace quire::tools
