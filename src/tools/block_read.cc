// block_read: a block's lines and details in profile `full`. Lines count from 0; an end past the
// last line is read as the last line, a start past it is refused (kernel).
#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/render.h"
#include "tools/shown_block.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"
#include "tools/window_args.h"

namespace quire::tools {

namespace {

struct BlockReadArgs {
    std::string block_id;
    bool line_numbers = true;
    std::optional<RangeAsked> range;
    std::optional<RangeAsked> columns;
};

}  // namespace

MadeTool make_block_read(kernel::Kernel& kernel) {
    return make_tool<BlockReadArgs>(
        {.name = "block_read",
         .title = "Read a block",
         .description = "Read a block's lines and details. Lines count from 0; with "
                        "line_numbers each begins "
                        "with its number and a TAB, which are not part of the text.",
         .annotations = {.read_only = true, .idempotent = true}},
        Fields<BlockReadArgs>()
            .required("block_id", &BlockReadArgs::block_id, kBlockIdSays)
            .optional("line_numbers", &BlockReadArgs::line_numbers,
                      "Number and TAB before each line of content.")
            .optional("range", &BlockReadArgs::range,
                      "Lines start to end, end not included. An end past the last line means the "
                      "last line.")
            .optional("columns", &BlockReadArgs::columns,
                      "With a range of one line: its code points start to end, end not "
                      "included. Reads on where a long line was cut."),
        shown_fields(Profile::full),
        [&kernel](const Session& session, BlockReadArgs args, Reply<Answered<ShownBlock>> reply) {
            const Profile shown_as = session.profile;
            const Result<edits::Window> window =
                window_asked(args.range, args.columns, numbering_of(shown_as));
            if (!window) return reply(Failure(window.error()));
            kernel.read(session.caller, std::move(args.block_id), *window,
                        answer_with(std::move(reply), [shown_as, numbers = args.line_numbers](
                                                          const kernel::BlockText& block) {
                            return render_block(block, shown_as, numbers);
                        }));
        });
}

}  // namespace quire::tools
