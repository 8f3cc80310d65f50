// block_read: a block's lines and details in profile `full`. Lines count from 0; an end past the
// last line is read as the last line, a start past it is refused (kernel).
#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/render.h"
#include "tools/shown_block.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct ReadLines {
    std::size_t start = 0;
    std::size_t end = 0;
    static Fields<ReadLines> fields() {
        return Fields<ReadLines>()
            .required("start", &ReadLines::start)
            .required("end", &ReadLines::end);
    }
};

struct BlockReadArgs {
    std::string block_id;
    bool line_numbers = true;
    std::optional<ReadLines> range;
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
                      "last line."),
        shown_fields(Profile::full),
        [&kernel](const Session& session, BlockReadArgs args, Reply<Answered<ShownBlock>> reply) {
            std::optional<text::LineRange> range;
            if (args.range) range = text::LineRange{{args.range->start}, {args.range->end}};
            const Profile shown_as = session.profile;
            kernel.read(session.caller, std::move(args.block_id), range,
                        answer_with(std::move(reply), [shown_as, numbers = args.line_numbers](
                                                          const kernel::BlockText& block) {
                            return render_block(block, shown_as, numbers);
                        }));
        });
}

}  // namespace quire::tools
