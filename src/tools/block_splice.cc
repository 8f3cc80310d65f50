// block_splice: an edit by offset, for programs and editors that keep their own copy of the text.
// The unit is theirs to choose: bytes, code points, or UTF-16 units as JavaScript counts.
#include "edits/offset_splice.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/block_calls.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

using kernel::Edited;

struct BlockSpliceArgs {
    std::string block_id;
    std::size_t offset = 0;
    std::size_t delete_count = 0;
    std::string insert;
    edits::OffsetUnit unit = edits::OffsetUnit::byte;
    std::optional<std::string> expected;
};

}  // namespace

MadeTool make_block_splice(kernel::Kernel& kernel, kernel::FileCalls* files) {
    return make_tool<BlockSpliceArgs>(
        {.name = "block_splice",
         .title = "Edit a block by offset",
         .description = "Delete delete_count units at offset and insert text there, exactly as "
                        "given. For programs and "
                        "editors; block_edit counts in lines.",
         .annotations = {.destructive = true}},
        Fields<BlockSpliceArgs>()
            .required("block_id", &BlockSpliceArgs::block_id, kBlockIdSays)
            .required("offset", &BlockSpliceArgs::offset, "In units from the start of the text.")
            .required("delete_count", &BlockSpliceArgs::delete_count, "Units to delete there.")
            .optional("insert", &BlockSpliceArgs::insert, "Text to insert there.")
            .optional("unit", &BlockSpliceArgs::unit, "What offset and delete_count count.")
            .optional("expected", &BlockSpliceArgs::expected,
                      "Refuse the call unless this is what would be deleted."),
        Fields<Edited>()
            // An editor knows its own text after the splice, so the structured answer has no
            // snippet; the text form shows it to people.
            .required("version", &Edited::version)
            .required("line_count", &Edited::line_count),
        [&kernel, files](const Session& session, BlockSpliceArgs args, Reply<Answered<Edited>> reply) {
            const Profile shown_as = session.profile;
            edits::OffsetSplice splice;
            splice.offset = args.offset;
            splice.delete_count = args.delete_count;
            splice.insert = std::move(args.insert);
            splice.unit = args.unit;
            splice.expected = std::move(args.expected);
            splice.limits = edit_limits(kernel);
            edit_block({kernel, files}, session.caller, std::move(args.block_id), "splice",
                        edits::offset_splice(std::move(splice)),
                        answer_with(std::move(reply), [shown_as](Edited edited) {
                            std::string text = render_edited(edited, shown_as).text;
                            return Answered<Edited>{std::move(edited), std::move(text)};
                        }));
        });
}

}  // namespace quire::tools
