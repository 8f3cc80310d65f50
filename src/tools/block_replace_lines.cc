// block_replace_lines: new text for a range of lines, in profile `model`. The call must quote the
// present text, so that a model which has not read the block cannot overwrite it.
#include "edits/line_edit.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/block_calls.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct BlockReplaceLinesArgs {
    std::string block_id;
    std::size_t start_line = 1;
    std::size_t end_line = 1;
    std::string new_text;
    std::string expected_text;
};

}  // namespace

MadeTool make_block_replace_lines(kernel::Kernel& kernel, kernel::FileCalls* files) {
    const Map line_rules{{"minimum", 1}};
    return make_tool<BlockReplaceLinesArgs>(
        {.name = "block_replace_lines",
         .title = "Replace lines",
         .description = "Replace a range of lines.",
         .annotations = {.destructive = true}},
        Fields<BlockReplaceLinesArgs>()
            .required("block_id", &BlockReplaceLinesArgs::block_id, kBlockIdSays)
            .required("start_line", &BlockReplaceLinesArgs::start_line, "First, from 1.", line_rules)
            .required("end_line", &BlockReplaceLinesArgs::end_line, "Last, included.", line_rules)
            .required("new_text", &BlockReplaceLinesArgs::new_text, "\"\" deletes.")
            .required("expected_text", &BlockReplaceLinesArgs::expected_text,
                      "Their text as you read it."),
        edit_fields(Profile::model),
        [&kernel, files](const Session& session, BlockReplaceLinesArgs args,
                  Reply<Answered<EditAnswer>> reply) {
            // With an inclusive range start = end + 1 would be empty, which block_insert does
            // better: the range must have a line to quote.
            if (args.start_line > args.end_line) {
                return reply(invalid(
                    "invalid_range",
                    "start_line is after end_line. Swap them, or use block_insert to add lines",
                    {{"start_line", args.start_line}, {"end_line", args.end_line}}));
            }
            const Profile shown_as = session.profile;
            edits::LineEdit edit;
            edit.operations.emplace_back(
                edits::ReplaceLines{{{args.start_line - 1}, {args.end_line}},
                                    std::move(args.new_text),
                                    std::move(args.expected_text)});
            edit.numbering = numbering_of(shown_as);
            edit.limits = edit_limits(kernel);
            edit.words.to_begin = "Use block_insert or block_append to write the first line";
            edit_block({kernel, files}, session.caller, std::move(args.block_id), "replace_lines",
                        edits::line_edits(std::move(edit)),
                        answer_with(std::move(reply), [shown_as](const kernel::Edited& edited) {
                            return render_edited(edited, shown_as);
                        }));
        });
}

}  // namespace quire::tools
