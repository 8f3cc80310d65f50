// block_cursor: where everybody is in a block's text. Positions are code points, whatever the
// profile: they go between programs. Each operation answers with the cursors of all, so that a
// program which sets its own sees the others' in the same call.
#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/operation_tool.h"
#include "tools/render.h"
#include "tools/tools.h"

namespace quire::json {

template <>
struct FieldsOf<kernel::Selection> {
    static Fields<kernel::Selection> fields() {
        using kernel::Selection;
        return Fields<Selection>()
            .required("anchor", &Selection::anchor, "Where it began, in code points from 0.")
            .required("head", &Selection::head, "Where it grows; the anchor, for a cursor.");
    }
};
template <>
struct FieldsOf<kernel::ActorCursors> {
    static Fields<kernel::ActorCursors> fields() {
        using kernel::ActorCursors;
        return Fields<ActorCursors>()
            .required("actor", &ActorCursors::actor)
            .required("selections", &ActorCursors::selections);
    }
};

}  // namespace quire::json

namespace quire::tools {

namespace {

using kernel::ActorCursors;
using kernel::Selection;

struct CursorAnswer {
    std::vector<ActorCursors> cursors;
    static Fields<CursorAnswer> fields() {
        return Fields<CursorAnswer>().required("cursors", &CursorAnswer::cursors).kept();
    }
};

ToolResult render_cursors(std::vector<ActorCursors> cursors) {
    std::string text = cursors.empty() ? "Nobody has a cursor there.\n" : "";
    for (const ActorCursors& each : cursors) {
        cat_to(text, cat(each.actor, ":"));
        for (const Selection& one : each.selections) {
            cat_to(text, cat(" ", one.anchor));
            if (one.head != one.anchor) cat_to(text, cat("-", one.head));
        }
        text += "\n";
    }
    return result_of(CursorAnswer{std::move(cursors)}, std::move(text));
}

void set_cursor(kernel::Kernel& kernel, OperationCall call, std::string block_id,
                std::vector<Selection> selections) {
    kernel.set_cursors(call.by(), std::move(block_id), std::move(selections),
                       answer_with(std::move(call.reply), render_cursors));
}
void get_cursor(kernel::Kernel& kernel, OperationCall call, std::string block_id) {
    kernel.cursors(call.by(), std::move(block_id),
                   answer_with(std::move(call.reply), render_cursors));
}
void clear_cursor(kernel::Kernel& kernel, OperationCall call, std::string block_id) {
    set_cursor(kernel, std::move(call), std::move(block_id), {});
}

// `set` changes what others see, but no text, so the tool counts as idempotent and not as
// destructive.
std::vector<OperationRow<kernel::Kernel&>> rows() {
    const Argument block_id{"block_id", std::string(kBlockIdSays)};
    return {
        {{.name = "set", .says = "your selections there, instead of those before"},
         set_cursor,
         {block_id, {"selections", "One or more; [] for none."}}},
        {{.name = "get", .reads = true, .says = "everybody's selections"}, get_cursor, {block_id}},
        {{.name = "clear", .says = "takes yours away"}, clear_cursor, {block_id}},
    };
}

}  // namespace

MadeTool make_block_cursor(kernel::Kernel& kernel) {
    return make_operation_tool<kernel::Kernel&>(
        {.name = "block_cursor",
         .title = "Cursors in a block",
         .description = "Show others where you are in a block, and see where they are. Selections "
                        "follow the text, and last a minute.",
         .annotations = {.idempotent = true},
         .answer = CursorAnswer::fields().schema()},
        "operation", kernel, rows());
}

std::vector<std::string> block_cursor_operations() {
    return operation_names(rows());
}

}  // namespace quire::tools
