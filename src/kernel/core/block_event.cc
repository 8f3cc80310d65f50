// A version is told as one thing, and what matters most to a reader decides: a block that appears
// or goes, then its text, then its status, and metadata when nothing else differs. A first append
// to a pending block also sets it to running; it is told as text.
#include "kernel/core/block_event.h"

namespace quire::kernel {

BlockEvent project(BlockStep step) {
    BlockEvent event = std::move(step.event);
    const BlockFacts& before = step.before;
    const BlockFacts& after = step.after;
    if (step.is_new || (before.is_deleted && !after.is_deleted)) {
        event.type = BlockEventType::created;
        event.content = after.text.str();
        event.block = std::move(step.block);
        return event;
    }
    if (after.is_deleted && !before.is_deleted) {
        event.type = BlockEventType::deleted;
        return event;
    }
    edits::TextChange change = edits::text_change(before.text, after.text);
    if (!change.appended.empty()) {
        event.type = BlockEventType::appended;
        event.text = std::move(change.appended);
    } else if (!change.edits.empty()) {
        event.type = BlockEventType::replaced;
        event.edits = std::move(change.edits);
    } else if (before.status != after.status) {
        event.type = BlockEventType::status;
        event.status = after.status;
    } else {
        event.type = BlockEventType::metadata;
        event.metadata = std::move(step.metadata);
        event.marks = step.marks;
    }
    return event;
}

// A weight for the bounds of queues, not an exact size: values in lists and maps of the metadata
// count 16 bytes, and a block's info counts 256.
std::size_t bytes_of(const BlockEvent& event) {
    std::size_t size = 96 + event.block_id.size() + event.actor.size() + event.path.size() +
                       event.label.size() + event.owner.size();
    if (event.updates) size += event.updates->size();
    if (event.text) size += event.text->size();
    if (event.content) size += event.content->size() + 256;
    if (event.edits) {
        for (const edits::LineChange& edit : *event.edits) size += 32 + edit.content.size();
    }
    for (const auto& [name, value] : event.metadata.value_or(Map()))
        size += name.size() + (value.is_string() ? value.as_string().size() : 16);
    return size;
}

}  // namespace quire::kernel
