#include "base/concat.h"
#include "tools/render.h"
#include "tools/shown_block.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct Range {
    std::size_t start = 0;
    std::size_t end = 0;
    static Fields<Range> fields() {
        return Fields<Range>().required("start", &Range::start).required("end", &Range::end);
    }
};

struct Args {
    std::string block_id;
    bool line_numbers = true;
    std::optional<Range> range;
};

}  // namespace

MadeTool make_block_read(kernel::Kernel& kernel) {
    return make_tool<Args>(
        {.name = "block_read",
         .title = "Read a block",
         .description = "A block's lines and what is known of it. Lines count from 0; with "
                        "line_numbers each begins "
                        "with its number and a TAB, which are not part of the text.",
         .annotations = {.read_only = true, .idempotent = true}},
        Fields<Args>()
            .required("block_id", &Args::block_id)
            .optional("line_numbers", &Args::line_numbers)
            .optional(
                "range", &Args::range,
                "Lines start to end, end not included; an end past the last line is the end."),
        shown_fields(Profile::full),
        [&kernel](const Session& session, Args args, Reply<Answered<ShownBlock>> reply) {
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
