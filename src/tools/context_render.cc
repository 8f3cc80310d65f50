// The answers of the tool `context`.
//
// The first part says how the kernel's structs look in JSON, one field list each (json/fields.h).
// The second turns each struct into a result: the same members as structured content, and a text
// for a model to read that names the block, what was done and the new version.
//
// In profile `model` an answer is made lean: it leaves out what the call said and what the text
// shows. kept() marks the members that stay all the same, because a caller asked for just these;
// implied() marks those that others imply.
#include "tools/context_render.h"

#include "base/concat.h"
#include "json/json.h"
#include "tools/memory_fields.h"
#include "tools/render.h"

namespace quire::json {

// A block in a list.
template <>
struct FieldsOf<kernel::MemoryRow> {
    static Fields<kernel::MemoryRow> fields() {
        using kernel::MemoryRow;
        return Fields<MemoryRow>()
            .required(
                "label", [](auto& row) -> auto& { return row.block.label; })
            .required(
                "block_id", [](auto& row) -> auto& { return row.block.block_id; })
            .required("type", &MemoryRow::type)
            .required("permission", &MemoryRow::permission)
            .required("description", &MemoryRow::description)
            .required(
                "version", [](auto& row) -> auto& { return row.block.version; })
            .required("pinned", &MemoryRow::pinned);
    }
};
template <>
struct FieldsOf<kernel::MemoryList> {
    static Fields<kernel::MemoryList> fields() {
        using kernel::MemoryList;
        return Fields<MemoryList>()
            .required("blocks", &MemoryList::blocks)
            .kept()
            .optional("unreadable", &MemoryList::unreadable);
    }
};
// A block that a search found, with the line that matched.
template <>
struct FieldsOf<kernel::MemoryFound::Hit> {
    static Fields<kernel::MemoryFound::Hit> fields() {
        using kernel::MemoryFound;
        return Fields<MemoryFound::Hit>()
            .members(Codec<kernel::MemoryRow>::fields(), &MemoryFound::Hit::row)
            .required("snippet", &MemoryFound::Hit::snippet)
            .required("score", &MemoryFound::Hit::score)
            .implied("score")         // Their order says it.
            .implied("description");  // It is long, and the list of blocks has it.
    }
};
template <>
struct FieldsOf<kernel::MemoryFound> {
    static Fields<kernel::MemoryFound> fields() {
        using kernel::MemoryFound;
        return Fields<MemoryFound>().required("blocks", &MemoryFound::hits).kept();
    }
};
// One block, whole: as text, as a value, and its schema.
template <>
struct FieldsOf<kernel::MemoryView> {
    static Fields<kernel::MemoryView> fields() {
        using kernel::MemoryView;
        return Fields<MemoryView>()
            .members(
                Codec<kernel::MemoryVersion>::fields(),
                [](auto& view) -> auto& { return view.row.block; })
            .required(
                "type", [](auto& view) -> auto& { return view.row.type; })
            .required(
                "permission", [](auto& view) -> auto& { return view.row.permission; })
            .required("schema", &MemoryView::schema)
            .kept()
            .required("rendered", &MemoryView::rendered)
            .kept()
            .required("value", &MemoryView::value)
            .kept();
    }
};
template <>
struct FieldsOf<kernel::MemoryUndone> {
    static Fields<kernel::MemoryUndone> fields() {
        using kernel::MemoryUndone;
        return Fields<MemoryUndone>()
            .members(Codec<kernel::MemoryVersion>::fields(), &MemoryUndone::block)
            .required("restored", &MemoryUndone::restored)
            .required("removed", &MemoryUndone::removed)
            .required("skipped_because_changed", &MemoryUndone::skipped_because_changed);
    }
};
template <>
struct FieldsOf<kernel::MemoryDiff> {
    static Fields<kernel::MemoryDiff> fields() {
        using kernel::MemoryDiff;
        return Fields<MemoryDiff>()
            .members(Codec<kernel::MemoryVersion>::fields(), &MemoryDiff::block)
            .required("from", &MemoryDiff::from)
            .required("to", &MemoryDiff::to)
            .required("diff", &MemoryDiff::diff)
            .kept();
    }
};
// A move has a second label, that of the archive.
template <>
struct FieldsOf<kernel::MemoryMoved> {
    static Fields<kernel::MemoryMoved> fields() {
        using kernel::MemoryMoved;
        return Fields<MemoryMoved>()
            .members(Codec<kernel::MemoryVersion>::fields(), &MemoryMoved::block)
            .required("archival_label", &MemoryMoved::archival_label);
    }
};
template <>
struct FieldsOf<memory::Conversion::Move> {
    static Fields<memory::Conversion::Move> fields() {
        using Move = memory::Conversion::Move;
        return Fields<Move>().required("from", &Move::from).required("to", &Move::to);
    }
};

}  // namespace quire::json

namespace quire::tools {

using json::Codec;
using kernel::MemoryVersion;

namespace {

// A write and what it made, by the name that its operation gives it. The value of a counter and an
// item that was removed are of any type, so each is a struct of its own with its member.
struct Counted {
    MemoryVersion block;
    Value value;
    static Fields<Counted> fields() {
        return Fields<Counted>()
            .members(Codec<MemoryVersion>::fields(), &Counted::block)
            .required("value", &Counted::value)
            .kept();
    }
};
struct Unchanged {
    MemoryVersion block;
    bool no_op = true;
    static Fields<Unchanged> fields() {
        return Fields<Unchanged>()
            .members(Codec<MemoryVersion>::fields(), &Unchanged::block)
            .required("no_op", &Unchanged::no_op)
            .kept();
    }
};
struct Removed {
    MemoryVersion block;
    Value removed;
    static Fields<Removed> fields() {
        return Fields<Removed>()
            .members(Codec<MemoryVersion>::fields(), &Removed::block)
            .required("removed", &Removed::removed)
            .kept();
    }
};

// A conversion reports what moved, what has no place, and what is left to fill in.
struct Converted {
    struct Report {
        bool additive = false;
        std::vector<memory::Conversion::Move> moved;
        std::vector<std::string> lost;
        std::vector<std::string> unset;
        static Fields<Report> fields() {
            return Fields<Report>()
                .required("additive", &Report::additive)
                .required("moved", &Report::moved)
                .required("lost", &Report::lost)
                .required("unset", &Report::unset);
        }
    };
    MemoryVersion block;
    Report report;
    static Fields<Converted> fields() {
        return Fields<Converted>()
            .members(Codec<MemoryVersion>::fields(), &Converted::block)
            .required("report", &Converted::report)
            .kept();
    }
};

// "plan: renamed, now version 3.", and what the block's source said, if it has one.
std::string done_text(const MemoryVersion& block, std::string_view what) {
    std::string text = cat(block.label, ": ", what, ", now version ", block.version, ".\n");
    if (block.source) {
        const auto& [name, answer, message] = *block.source;
        text += cat("Note: the source ", name, " answers ", answer, ": ", message, ".\n");
    }
    return text;
}

}  // namespace

Map memory_answer(bool full) {
    // Profile `model` names only what most operations answer. The source, which is last, is not
    // among it.
    if (!full) return one_of({json::FieldsOf<MemoryVersion>::fields().unlisted().schema(), {}});
    return one_of({Codec<MemoryVersion>::schema(), Codec<kernel::MemoryView>::schema(),
                   Codec<kernel::MemoryList>::schema(), Codec<kernel::MemoryFound>::schema(),
                   Codec<Counted>::schema(), Codec<Removed>::schema(), Codec<Unchanged>::schema(),
                   Codec<kernel::MemoryUndone>::schema(), Codec<About<kernel::MemoryVersion, ShownHistory>>::schema(),
                   Codec<kernel::MemoryDiff>::schema(), Codec<kernel::MemoryMoved>::schema(),
                   Codec<Converted>::schema()});
}

ToolResult render_memory_done(const MemoryVersion& block, std::string_view what) {
    return result_of(block, done_text(block, what));
}

// One line for each block: label, type, permission, version, description.
ToolResult render_memory_list(const kernel::MemoryList& list) {
    std::string text = list.blocks.empty() ? "No memory blocks.\n" : "";
    for (const kernel::MemoryRow& row : list.blocks) {
        text += cat(row.address, "\t", name_of(row.type), "\t", name_of(row.permission),
                    "\tversion ", row.block.version, "\t", row.description, "\n");
    }
    for (const std::string& label : list.unreadable)
        text += cat("Note: ", label, " cannot be read; context view says why.\n");
    return result_of(list, std::move(text));
}

ToolResult render_memory_found(const kernel::MemoryFound& found) {
    std::string text = found.hits.empty() ? "No memory block matches.\n" : "";
    for (const kernel::MemoryFound::Hit& hit : found.hits) {
        text += cat(hit.row.block.label, "\t", name_of(hit.row.type), "\t", hit.snippet, "\n");
    }
    return result_of(found, std::move(text));
}

// The rendered text ends in a newline before the version.
ToolResult render_memory_view(const kernel::MemoryView& view) {
    const std::string& shown = view.rendered;
    return result_of(view, cat(shown, shown.empty() || shown.ends_with('\n') ? "" : "\n",
                               "Version ", view.row.block.version, ".\n"));
}

ToolResult render_memory_written(const kernel::MemoryWritten& written, WriteMade made) {
    const MemoryVersion& block = written.block;
    const std::string what = written.made.is_null() ? "" : json::write(written.made);
    switch (made) {
        case WriteMade::nothing:
            if (written.no_op) {
                return result_of(Unchanged{block},
                                 cat(block.label, " reads so already; nothing was changed.\n"));
            }
            return result_of(block, done_text(block, "written"));
        // A replacement that matched nothing is refused by the kernel, so the count is never 0.
        case WriteMade::replacements:
            return result_of(block, done_text(block, cat("replaced ", what)));
        case WriteMade::value:
            return result_of(Counted{block, written.made}, done_text(block, cat("value ", what)));
        case WriteMade::removed:
            return result_of(Removed{block, written.made}, done_text(block, cat("removed ", what)));
    }
    return {};
}

// Parts that others changed since are left as they are, and counted.
ToolResult render_memory_undone(const kernel::MemoryUndone& undone, bool redo) {
    std::string text = done_text(undone.block, redo ? "redone" : "undone");
    if (undone.skipped_because_changed > 0) {
        text += cat("Note: ", undone.skipped_because_changed,
                    " of its parts stay: others have changed them since.\n");
    }
    return result_of(undone, std::move(text));
}

ToolResult render_memory_history(const kernel::MemoryHistory& history) {
    return result_of(
        About<kernel::MemoryVersion, ShownHistory>{history.block, shown_history(history.page)},
        history_text(history.page));
}

ToolResult render_memory_diff(const kernel::MemoryDiff& found) {
    return result_of(found, diff_text(found.diff));
}

ToolResult render_archived(const kernel::MemoryMoved& moved) {
    return result_of(moved, done_text(moved.block, cat("archived as ", moved.archival_label,
                                                       "; the label is free")));
}

ToolResult render_swapped(const kernel::MemoryMoved& moved) {
    return result_of(
        moved, done_text(moved.block, cat("loaded; the block that had the label is archived as ",
                                          moved.archival_label)));
}

// Every move, loss and gap is one line, in a dry run as well. So a model can correct its mapping
// before it accepts a loss.
ToolResult render_converted(const kernel::MemoryConverted& made, bool dry_run) {
    std::string text = done_text(
        made.block, dry_run ? "not converted yet; this is what would happen" : "converted");
    for (const memory::Conversion::Move& each : made.moved)
        text += cat(each.from, " -> ", each.to, "\n");
    for (const std::string& each : made.lost) text += cat("Note: no place for ", each, "\n");
    for (const std::string& each : made.unset) text += cat("Note: ", each, " must be set\n");
    return result_of(Converted{made.block, {made.additive, made.moved, made.lost, made.unset}},
                     std::move(text));
}

}  // namespace quire::tools
