// block_undo and block_redo: two tools in `full`, one with a flag in `model`.
#include "base/concat.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::json {

template <>
struct Words<kernel::UndoScope> {
    static constexpr std::size_t count = 2;
    static std::string_view word(kernel::UndoScope scope) {
        return scope == kernel::UndoScope::own ? "own" : "any";
    }
};

}  // namespace quire::json

namespace quire::tools {

namespace {

struct Args {
    std::string block_id;
    kernel::UndoScope scope = kernel::UndoScope::own;
    bool redo = false;
};

struct Answer : kernel::Undone {
    std::string snippet;
};

Fields<Answer> answer(Profile profile) {
    const bool full = profile == Profile::full;
    Fields<Answer> out;
    // A model reads the names at every start, word by word.
    out.required("version", &Answer::version)
        .required("restored", &Answer::restored)
        .unlisted(!full)
        .required("removed", &Answer::removed)
        .unlisted(!full)
        .required("skipped_because_changed", &Answer::skipped_because_changed);
    if (!full) out.required("snippet", &Answer::snippet);
    return out;
}

Answered<Answer> render(kernel::Undone undone, Profile profile, bool redo) {
    std::string text = cat(redo ? "Redone" : "Undone", ": now ",
                           version_line(undone.version, undone.line_count), ".\n");
    if (undone.skipped_because_changed > 0) {
        text += cat("Note: ", undone.skipped_because_changed,
                    " of its parts had been changed by others since and stay as they are.\n");
    }
    text += snippet_text(undone.change, profile);
    std::string snippet = snippet_of(undone.change, profile);
    return {{std::move(undone), std::move(snippet)}, std::move(text)};
}

void run(kernel::Kernel& kernel, const Session& session, const Args& args, bool redo,
         Reply<Answered<Answer>> reply) {
    kernel.undo(
        session.caller, args.block_id, args.scope, redo,
        answer_with(std::move(reply), [shown_as = session.profile, redo](kernel::Undone undone) {
            return render(std::move(undone), shown_as, redo);
        }));
}

}  // namespace

MadeTool make_block_undo(kernel::Kernel& kernel, Profile profile) {
    Fields<Args> fields;
    fields.required("block_id", &Args::block_id);
    if (profile == Profile::full) {
        fields.optional("scope", &Args::scope, "any: whoever made it.");
    } else {
        fields.optional("redo", &Args::redo);
    }
    return make_tool<Args>(
        {.name = "block_undo",
         .title = "Undo a change",
         .description = profile == Profile::full
                            ? "Take back your last change to a block that is not yet undone. What "
                              "others have changed since stays."
                            : "Undo your own last change; redo: true brings it back.",
         .annotations = {.destructive = true}},
        std::move(fields), answer(profile),
        [&kernel](const Session& session, const Args& args, Reply<Answered<Answer>> reply) {
            run(kernel, session, args, args.redo, std::move(reply));
        });
}

MadeTool make_block_redo(kernel::Kernel& kernel) {
    return make_tool<Args>(
        {.name = "block_redo",
         .title = "Redo a change",
         .description = "Make again the change to a block that you undid last.",
         .annotations = {.destructive = true}},
        Fields<Args>()
            .required("block_id", &Args::block_id)
            .optional("scope", &Args::scope, "any: whoever made it."),
        answer(Profile::full),
        [&kernel](const Session& session, const Args& args, Reply<Answered<Answer>> reply) {
            run(kernel, session, args, true, std::move(reply));
        });
}

}  // namespace quire::tools
