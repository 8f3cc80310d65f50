// block_view: a block's lines in profile `model`, numbered from 1; -1 means the last line.
//
// The kernel takes ranges from 0. Only a view that starts at the last line needs two reads: the
// first learns how many lines there are.
#include <memory>

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

// Names the last line.
constexpr std::int64_t kLast = -1;

struct BlockViewArgs {
    std::string block_id;
    std::optional<std::int64_t> start_line;
    std::optional<std::int64_t> end_line;
    std::optional<RangeAsked> columns;
};

// Checks that the range runs forwards; nothing else is known before the block is read.
Result<void> check_order(std::int64_t start, std::int64_t end) {
    if (start == 0 || end == 0 || start < kLast || end < kLast) {
        return invalid("invalid_range", "lines are numbered from 1; -1 is the last",
                       {{"start_line", start}, {"end_line", end}});
    }
    // A start at the last line fits only an end at the last line: no other end is known to lie
    // behind it.
    if (end != kLast && (start == kLast || start > end)) {
        return invalid("invalid_range",
                       cat("start_line ", start, " is after end_line ", end, ". Swap them"),
                       {{"start_line", start}, {"end_line", end}});
    }
    return {};
}

}  // namespace

MadeTool make_block_view(kernel::Kernel& kernel) {
    return make_tool<BlockViewArgs>(
        {.name = "block_view",
         .title = "View block",
         .description = "A block's lines: number, TAB, text.",
         .annotations = {.read_only = true, .idempotent = true}},
        Fields<BlockViewArgs>()
            .required("block_id", &BlockViewArgs::block_id, kBlockIdSays)
            .optional("start_line", &BlockViewArgs::start_line, "First, from 1; -1: the last.")
            .optional("end_line", &BlockViewArgs::end_line, "Last, included; -1: the last.")
            .optional("columns", &BlockViewArgs::columns,
                      "Characters of one line, from 1, included."),
        shown_fields(Profile::model),
        [&kernel](const Session& session, const BlockViewArgs& args,
                  Reply<Answered<ShownBlock>> reply) {
            const std::int64_t start = args.start_line.value_or(1);
            const std::int64_t end = args.end_line.value_or(kLast);
            if (Result<void> ordered = check_order(start, end); !ordered)
                return reply(Failure(std::move(ordered).error()));
            const Result<edits::Window> part =
                window_asked({}, args.columns, numbering_of(session.profile));
            if (!part) return reply(Failure(part.error()));
            const auto read = [&kernel, by = session.caller, id = args.block_id,
                               columns = part->columns, shown_as = session.profile](
                                  text::LineRange range, Reply<Answered<ShownBlock>> answer) {
                const std::size_t first = range.begin.n + 1;
                kernel.read(by, id, {range, columns},
                            [answer = std::move(answer), shown_as,
                             first](Result<kernel::BlockText> block) mutable {
                                auto past = past_the_end(first, block ? nullptr : &block.error(),
                                                         block ? block->info.line_count : 0);
                                if (past) return answer(Failure(std::move(*past)));
                                if (!block) return answer(Failure(std::move(block).error()));
                                answer(render_block(*block, shown_as, true));
                            });
            };
            // The inclusive end, counted from 1, is the excluded end, counted from 0.
            const std::size_t stop = end == kLast ? SIZE_MAX : static_cast<std::size_t>(end);
            if (start != kLast) {
                read({{static_cast<std::size_t>(start) - 1}, {stop}}, std::move(reply));
                return;
            }
            // Which line is the last one is known only after a first read.
            kernel.read(
                session.caller, args.block_id, text::LineRange{{0}, {0}},
                [reply = std::move(reply), read, stop](Result<kernel::BlockText> block) mutable {
                    if (!block) return reply(Failure(std::move(block).error()));
                    const std::size_t count = block->info.line_count;
                    read({{count == 0 ? 0 : count - 1}, {stop}}, std::move(reply));
                });
        });
}

}  // namespace quire::tools
