// block_undo and block_redo: two tools in profile `full`, one with a flag in `model`.
//
// An undo takes back the caller's last unit of work on the block and leaves what others changed
// since. A unit whose text others replaced is skipped and counted, never half undone. With the
// scope `any`, which `full` alone offers, it is the last unit of anyone: a model should not take
// back others' work by a slip.
#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/block_calls.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct BlockUndoArgs {
    std::string block_id;
    kernel::UndoScope scope = kernel::UndoScope::own;
    std::optional<bool> redo;
};

struct BlockUndoAnswer : kernel::Undone {
    std::string snippet;
};

Fields<BlockUndoAnswer> block_undo_answer(Profile profile) {
    const bool full = profile == Profile::full;
    Fields<BlockUndoAnswer> out;
    // A model reads the schema at every start, so it names only what a model needs.
    out.required("version", &BlockUndoAnswer::version)
        .required("restored", &BlockUndoAnswer::restored)
        .unlisted(!full)
        .required("removed", &BlockUndoAnswer::removed)
        .unlisted(!full)
        .required("skipped_because_changed", &BlockUndoAnswer::skipped_because_changed);
    if (!full) out.required("snippet", &BlockUndoAnswer::snippet);
    return out;
}

Answered<BlockUndoAnswer> render_undo(kernel::Undone undone, Profile profile, bool redo) {
    const bool is_back = undone.file == kernel::Undone::File::restored;
    const std::string_view done = redo      ? "Redone: now "
                                  : is_back ? "Undone: the file is there again, "
                                            : "Undone: now ";
    std::string text = cat(done, version_line(undone.version, undone.line_count), ".\n");
    if (undone.skipped_because_changed > 0) {
        text += cat("Note: ", undone.skipped_because_changed,
                    " of its parts stay: others have changed them since.\n");
    }
    text += snippet_text(undone.change, profile);
    std::string snippet = snippet_of(undone.change, profile);
    return {{std::move(undone), std::move(snippet)}, std::move(text)};
}

void run_undo(const BlockCalls& on, const Session& session, const BlockUndoArgs& args, bool redo,
              Reply<Answered<BlockUndoAnswer>> reply) {
    undo_block(
        on, session.caller, args.block_id,
        kernel::last_of(session.caller.actor.str(), args.scope, redo),
        answer_with(std::move(reply), [shown_as = session.profile, redo](kernel::Undone undone) {
            return render_undo(std::move(undone), shown_as, redo);
        }));
}

}  // namespace

MadeTool make_block_undo(kernel::Kernel& kernel, kernel::FileCalls* files, Profile profile) {
    Fields<BlockUndoArgs> fields;
    fields.required("block_id", &BlockUndoArgs::block_id, kBlockIdSays);
    if (profile == Profile::full) {
        fields.optional("scope", &BlockUndoArgs::scope, "any: a change by anyone.");
    } else {
        fields.optional("redo", &BlockUndoArgs::redo, "Bring it back.");
    }
    return make_tool<BlockUndoArgs>(
        {.name = "block_undo",
         .title = "Undo a change",
         .description = "Undo your own last change.",
         .annotations = {.destructive = true}},
        std::move(fields), block_undo_answer(profile),
        [&kernel, files](const Session& session, const BlockUndoArgs& args,
                         Reply<Answered<BlockUndoAnswer>> reply) {
            run_undo({kernel, files}, session, args, args.redo.value_or(false), std::move(reply));
        });
}

MadeTool make_block_redo(kernel::Kernel& kernel, kernel::FileCalls* files) {
    return make_tool<BlockUndoArgs>(
        {.name = "block_redo",
         .title = "Redo a change",
         .description = "Redo the change to a block that you undid last.",
         .annotations = {.destructive = true}},
        Fields<BlockUndoArgs>()
            .required("block_id", &BlockUndoArgs::block_id, kBlockIdSays)
            .optional("scope", &BlockUndoArgs::scope, "any: a change by anyone."),
        block_undo_answer(Profile::full),
        [&kernel, files](const Session& session, const BlockUndoArgs& args,
                         Reply<Answered<BlockUndoAnswer>> reply) {
            run_undo({kernel, files}, session, args, true, std::move(reply));
        });
}

}  // namespace quire::tools
