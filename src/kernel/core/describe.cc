// Descriptions of blocks are computed from the rope and the index when they are asked for;
// nothing here is cached.
#include "kernel/core/describe.h"

#include "conversation/conversation.h"
#include "crdt/doc/text.h"
#include "edits/plan.h"
#include "edits/view.h"
#include "kernel/core/block_edits.h"
#include "kernel/core/gate.h"
#include "kernel/core/kinds.h"

namespace quire::kernel {

BlockInfo info_of(LiveDocument& document, const BlockRef& block, const seq::Rope& text,
                  Gate* gate) {
    BlockInfo info;
    info.block_id = document.id_of(block).str();
    if (block.fields != nullptr) {
        if (block.fields->parent) {
            const conversation::ConversationBlock* parent =
                document.conversation()->find(*block.fields->parent);
            if (parent != nullptr) info.parent_id = document.id_of(document.ref_of(*parent)).str();
        }
        info.role = block.fields->role();
        info.kind = block.fields->kind();
        info.status = block.fields->status();
        info.marks = block.fields->marks;
        if (block.state->interrupted) {
            info.status = name_of(conversation::Status::error);
            info.reason = "interrupted";
        }
        if (const Value* path = block.fields->metadata.find("path");
            path != nullptr && path->is_string()) {
            info.path = path->as_string();
        }
    } else {
        info.role = "system";
        info.kind = document.kind();
        info.status = "done";
        info.is_file = is_file_text(document.kind());
        if (info.is_file) {
            info.kind = kFileKind;
            info.path = document.name();
        }
        if (document.kind() == kMemoryKind) {
            info.label = document.name();
            info.owner = document.record().owner;
        }
        info.dirty = gate != nullptr && gate->dirty(document);
    }
    info.summary = edits::summary(text);
    info.version = block.state->version;
    info.line_count = text.lines().n;
    info.bytes = text.bytes().n;
    return info;
}

Result<BlockText> text_of(LiveDocument& document, const BlockRef& block, const seq::Rope& text,
                          const edits::Window& window, const Limits& limits, Gate* gate) {
    edits::View view = TRY(edits::view(text, window, {limits.read_lines, limits.read_columns}));
    BlockText out;
    out.info = info_of(document, block, text, gate);
    if (block.fields != nullptr) out.metadata = block.fields->metadata;
    out.eol = edits::eol_name(text);
    out.final_newline = text.ends_with_newline();
    out.first_line = view.first.n;
    out.columns = view.columns;
    out.line_columns = view.line_columns;
    out.lines = std::move(view.lines);
    out.truncated = view.truncated;
    out.notes = std::move(view.notes);
    return out;
}

Edited edited_as(LiveDocument& document, const BlockRef& block, edits::Planned planned,
                 const Limits& limits) {
    const seq::Rope& text = document.doc().text(block.content).rope();
    Edited out;
    out.version = block.state->version;
    out.line_count = text.lines().n;
    out.no_op = planned.splices.empty();
    out.notes = std::move(planned.notes);
    if (!out.no_op) out.change = edits::change_made(text, planned.splices, limits.read_columns);
    return out;
}

}  // namespace quire::kernel
