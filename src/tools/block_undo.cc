// block_undo and block_redo: two tools in `full`, one with a flag in `model`.
#include "base/cat.h"
#include "tools/blocks.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {

template <>
struct Words<kernel::UndoScope> {
    static constexpr std::size_t count = 2;
    static std::string_view word(kernel::UndoScope scope) {
        return scope == kernel::UndoScope::own ? "own" : "any";
    }
};

namespace {

struct Args {
    std::string block_id;
    kernel::UndoScope scope = kernel::UndoScope::own;
    bool redo = false;
};

ToolResult render(const kernel::Undone& undone, Profile profile, bool redo) {
    std::string text = cat(redo ? "Redone" : "Undone", ": now ",
                           version_line(undone.version, undone.line_count), ".\n");
    if (undone.skipped_because_changed > 0) {
        text += cat("Note: ", undone.skipped_because_changed,
                    " of its parts had been changed by others since and stay as they are.\n");
    }
    Map out{{"version", undone.version},
            {"restored", undone.restored},
            {"removed", undone.removed},
            {"skipped_because_changed", undone.skipped_because_changed}};
    if (profile != Profile::full) out.append("snippet", snippet_of(undone.change, profile));
    return {std::move(out), text + snippet_text(undone.change, profile)};
}

Map output(Profile profile) {
    // A model reads this at every start, word by word.
    if (profile != Profile::full) {
        return object_schema({{"version", "integer"},
                              {"skipped_because_changed", "integer"},
                              {"snippet", "string"}});
    }
    return object_schema({{"version", "integer"},
                          {"restored", "integer"},
                          {"removed", "integer"},
                          {"skipped_because_changed", "integer"}});
}

void run(kernel::Kernel& kernel, const Session& session, const Args& args, bool redo,
         Reply<ToolResult> reply) {
    kernel.undo(session.caller, args.block_id, args.scope, redo,
                answer_with<kernel::Undone>(std::move(reply), [shown_as = session.profile,
                                                               redo](const kernel::Undone& undone) {
                    return render(undone, shown_as, redo);
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
         .annotations = {.destructive = true},
         .output_schema = output(profile)},
        std::move(fields),
        [&kernel](const Session& session, const Args& args, Reply<ToolResult> reply) {
            run(kernel, session, args, args.redo, std::move(reply));
        });
}

MadeTool make_block_redo(kernel::Kernel& kernel) {
    return make_tool<Args>(
        {.name = "block_redo",
         .title = "Redo a change",
         .description = "Make again the change to a block that you undid last.",
         .annotations = {.destructive = true},
         .output_schema = output(Profile::full)},
        Fields<Args>()
            .required("block_id", &Args::block_id)
            .optional("scope", &Args::scope, "any: whoever made it."),
        [&kernel](const Session& session, const Args& args, Reply<ToolResult> reply) {
            run(kernel, session, args, true, std::move(reply));
        });
}

}  // namespace quire::tools
