// block_str_replace: replaces text that occurs exactly once, in profile `model`. The search and its
// refusals ("no_match" with the closest region, "not_unique" with the lines) are those of
// edits/str_replace.h.
#include "edits/str_replace.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/block_calls.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct BlockStrReplaceArgs {
    std::string block_id;
    std::string old_str;
    std::string new_str;
    std::optional<bool> replace_all;
};

}  // namespace

MadeTool make_block_str_replace(kernel::Kernel& kernel, kernel::FileCalls* files) {
    return make_tool<BlockStrReplaceArgs>(
        {.name = "block_str_replace",
         .title = "Replace text",
         .description = "Replace text that occurs once.",
         .annotations = {.destructive = true}},
        Fields<BlockStrReplaceArgs>()
            .required("block_id", &BlockStrReplaceArgs::block_id, kBlockIdSays)
            .required("old_str", &BlockStrReplaceArgs::old_str, "Exact, without line numbers.")
            .required("new_str", &BlockStrReplaceArgs::new_str, "\"\" deletes.")
            .optional("replace_all", &BlockStrReplaceArgs::replace_all, "Every occurrence."),
        edit_fields(Profile::model),
        [&kernel, files](const Session& session, BlockStrReplaceArgs args,
                  Reply<Answered<EditAnswer>> reply) {
            const Profile shown_as = session.profile;
            edits::StrReplace replace;
            replace.old_str = std::move(args.old_str);
            replace.new_str = std::move(args.new_str);
            replace.replace_all = args.replace_all.value_or(false);
            replace.numbering = numbering_of(shown_as);
            replace.limits = edit_limits(kernel);
            edit_block({kernel, files}, session.caller, std::move(args.block_id), "str_replace",
                        edits::str_replace(std::move(replace)),
                        answer_with(std::move(reply), [shown_as](const kernel::Edited& edited) {
                            return render_edited(edited, shown_as);
                        }));
        });
}

}  // namespace quire::tools
