#include "tools/context_render.h"

#include "base/cat.h"
#include "json/json.h"
#include "tools/render.h"

namespace quire::tools {

using kernel::MemoryVersion;

namespace {

Map members_of(const MemoryVersion& block) {
    Map out{{"label", block.label}, {"block_id", block.block_id}, {"version", block.version}};
    if (block.source) {
        out.append("source", block.source->members());
    }
    return out;
}

}  // namespace

ToolResult render_memory_done(const MemoryVersion& block, std::string_view what) {
    std::string text = cat(block.label, ": ", what, ", now version ", block.version, ".\n");
    if (block.source) {
        const auto& [name, answer, message] = *block.source;
        text += cat("Note: the source ", name, " answers ", answer, ": ", message, ".\n");
    }
    return {members_of(block), std::move(text)};
}

namespace {

Map row_of(const kernel::MemoryRow& row) {
    return {{"label", row.block.label},
            {"block_id", row.block.block_id},
            {"type", kernel::name_of(row.type)},
            {"permission", policy::name_of(row.permission)},
            {"description", row.description},
            {"version", row.block.version},
            {"pinned", row.pinned}};
}

}  // namespace

ToolResult render_memory_list(const kernel::MemoryList& list) {
    List rows;
    std::string text = list.blocks.empty() ? "No memory blocks.\n" : "";
    for (const kernel::MemoryRow& row : list.blocks) {
        rows.push_back(row_of(row));
        text += cat(row.block.label, "\t", kernel::name_of(row.type), "\t",
                    policy::name_of(row.permission), "\tversion ", row.block.version, "\t",
                    row.description, "\n");
    }
    Map out{{"blocks", std::move(rows)}};
    if (!list.unreadable.empty()) {
        out.append("unreadable", strings(list.unreadable));
        for (const std::string& label : list.unreadable)
            text += cat("Note: ", label, " cannot be read; context view says why.\n");
    }
    return {std::move(out), std::move(text)};
}

ToolResult render_memory_found(const kernel::MemoryFound& found) {
    List rows;
    std::string text = found.hits.empty() ? "No memory block has all of that.\n" : "";
    for (const kernel::MemoryFound::Hit& hit : found.hits) {
        Map row = row_of(hit.row);
        row.append("snippet", hit.snippet);
        row.append("score", hit.score);
        rows.push_back(std::move(row));
        text +=
            cat(hit.row.block.label, "\t", kernel::name_of(hit.row.type), "\t", hit.snippet, "\n");
    }
    return {Map{{"blocks", std::move(rows)}}, std::move(text)};
}

ToolResult render_memory_view(kernel::MemoryView view) {
    Map out = members_of(view.row.block);
    out.append("type", kernel::name_of(view.row.type));
    out.append("permission", policy::name_of(view.row.permission));
    out.append("schema", std::move(view.schema));
    out.append("rendered", view.rendered);
    out.append("value", std::move(view.value));
    std::string text = std::move(view.rendered);
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    return {std::move(out), cat(text, "Version ", view.row.block.version, ".\n")};
}

ToolResult render_memory_written(kernel::MemoryWritten written, std::string_view operation,
                                 std::string_view made) {
    std::string what(operation);
    if (!written.made.is_null()) what += cat(" ", json::write(written.made));
    ToolResult result = render_memory_done(written.block, what);
    if (!made.empty())
        result.structured.as_map().append(std::string(made), std::move(written.made));
    return result;
}

ToolResult render_memory_undone(const kernel::MemoryUndone& undone, bool redo) {
    ToolResult result = render_memory_done(undone.block, redo ? "redone" : "undone");
    Map& out = result.structured.as_map();
    out.append("restored", undone.restored);
    out.append("removed", undone.removed);
    out.append("skipped_because_changed", undone.skipped_because_changed);
    if (undone.skipped_because_changed > 0) {
        result.text += cat("Note: ", undone.skipped_because_changed,
                           " of its parts had been changed by others since and stay.\n");
    }
    return result;
}

ToolResult render_memory_history(const kernel::MemoryHistory& history) {
    ToolResult result = render_history(history.page);
    for (const Map::Entry& member : members_of(history.block))
        result.structured.as_map().append(member.key, member.value);
    return result;
}

ToolResult render_memory_diff(kernel::MemoryDiff found) {
    Map out = members_of(found.block);
    out.append("from", std::move(found.from));
    out.append("to", std::move(found.to));
    out.append("diff", found.diff);
    std::string text =
        found.diff.empty() ? "The two versions say the same.\n" : std::move(found.diff);
    return {std::move(out), std::move(text)};
}

ToolResult render_archived(const kernel::MemoryMoved& moved) {
    ToolResult result = render_memory_done(
        moved.block, cat("archived as ", moved.archival_label, "; the label is free"));
    result.structured.as_map().append("archival_label", moved.archival_label);
    return result;
}

ToolResult render_swapped(const kernel::MemoryMoved& moved) {
    ToolResult result = render_memory_done(
        moved.block, cat("loaded, and what had the label is archived as ", moved.archival_label));
    result.structured.as_map().append("archival_label", moved.archival_label);
    return result;
}

ToolResult render_converted(const kernel::MemoryConverted& made, bool dry_run) {
    ToolResult result = render_memory_done(
        made.block, dry_run ? "not converted yet; this is what would be" : "converted");
    List moved;
    for (const schema::Conversion::Move& each : made.moved) {
        moved.push_back(Map{{"from", each.from}, {"to", each.to}});
        result.text += cat(each.from, " -> ", each.to, "\n");
    }
    result.structured.as_map().append("report", Map{{"additive", made.additive},
                                                    {"moved", std::move(moved)},
                                                    {"lost", strings(made.lost)},
                                                    {"unset", strings(made.unset)}});
    for (const std::string& each : made.lost) result.text += cat("Note: no place for ", each, "\n");
    for (const std::string& each : made.unset)
        result.text += cat("Note: ", each, " is to be set\n");
    return result;
}

}  // namespace quire::tools
