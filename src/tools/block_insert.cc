// block_insert: whole lines after a line, in profile `model`. It plans the same edit as block_edit
// with one insert, and names its own arguments in refusals.
#include "edits/line_edit.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/block_calls.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct BlockInsertArgs {
    std::string block_id;
    std::size_t insert_line = 0;
    std::string insert_text;
};

}  // namespace

MadeTool make_block_insert(kernel::Kernel& kernel, kernel::FileCalls* files) {
    return make_tool<BlockInsertArgs>(
        {.name = "block_insert",
         .title = "Insert lines",
         .description = "Insert whole lines.",
         .annotations = {}},
        Fields<BlockInsertArgs>()
            .required("block_id", &BlockInsertArgs::block_id, kBlockIdSays)
            .required("insert_line", &BlockInsertArgs::insert_line, "After it; from 1, 0: the top.")
            .required("insert_text", &BlockInsertArgs::insert_text, "Lines."),
        edit_fields(Profile::model),
        [&kernel, files](const Session& session, BlockInsertArgs args, Reply<Answered<EditAnswer>> reply) {
            const Profile shown_as = session.profile;
            edits::LineEdit edit;
            // After line N counted from 1 is before line N counted from 0.
            edit.operations.emplace_back(
                edits::InsertLines{{args.insert_line}, std::move(args.insert_text), {}});
            edit.numbering = numbering_of(shown_as);
            edit.limits = edit_limits(kernel);
            edit.words = {.line = "insert_line",
                          .to_delete = "block_replace_lines with new_text \"\" deletes lines"};
            edit_block({kernel, files}, session.caller, std::move(args.block_id), "insert",
                        edits::line_edits(std::move(edit)),
                        answer_with(std::move(reply), [shown_as](const kernel::Edited& edited) {
                            return render_edited(edited, shown_as);
                        }));
        });
}

}  // namespace quire::tools
