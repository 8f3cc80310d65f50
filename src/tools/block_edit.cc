// block_edit: a batch of line edits in profile `full`, all or nothing.
//
// The arguments are decoded straight into the edits of edits/line_edit.h (tools/edit_fields.h says
// how those look in JSON), because both count lines from 0 and exclude the end.
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/block_calls.h"
#include "tools/edit_fields.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct BlockEditArgs {
    std::string block_id;
    std::vector<edits::LineOp> operations;
    edits::Coords coords = edits::Coords::sequential;
    std::optional<std::size_t> base_version;
};

}  // namespace

MadeTool make_block_edit(kernel::Kernel& kernel, kernel::FileCalls* files) {
    return make_tool<BlockEditArgs>(
        {.name = "block_edit",
         .title = "Edit a block by lines",
         .description =
             "Insert, delete and replace lines, all or none. Lines count from 0 and end_line is "
             "not part of "
             "the range. An insert goes before `line`; line_count appends. With expected_text or "
             "expected_before the call is refused unless the lines read so.",
         .annotations = {.destructive = true}},
        Fields<BlockEditArgs>()
            .required("block_id", &BlockEditArgs::block_id, kBlockIdSays)
            .required("operations", &BlockEditArgs::operations,
                      "Line edits, applied all or none. Lines count from 0, end not included.")
            .optional("coords", &BlockEditArgs::coords,
                      "sequential: an operation sees the lines as the earlier ones left them. "
                      "original: all operations count in the text before the call and must not "
                      "overlap.")
            .optional("base_version", &BlockEditArgs::base_version,
                      "Refuse the call unless the block is at this version."),
        edit_fields(Profile::full),
        [&kernel, files](const Session& session, BlockEditArgs args, Reply<Answered<EditAnswer>> reply) {
            const Profile shown_as = session.profile;
            edits::LineEdit edit;
            edit.operations = std::move(args.operations);
            edit.coords = args.coords;
            edit.base_version = args.base_version;
            edit.numbering = numbering_of(shown_as);
            edit.limits = edit_limits(kernel);
            edit_block({kernel, files}, session.caller, std::move(args.block_id), "edit",
                        edits::line_edits(std::move(edit)),
                        answer_with(std::move(reply), [shown_as](const kernel::Edited& edited) {
                            return render_edited(edited, shown_as);
                        }));
        });
}

}  // namespace quire::tools
