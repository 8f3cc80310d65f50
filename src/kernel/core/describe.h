// Descriptions of a block: its row in a list, a stretch of its lines, the outcome of an edit.
#pragma once

#include "edits/view.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/live_document.h"
#include "kernel/core/parts.h"

namespace quire::edits {
struct Planned;
}

namespace quire::kernel {

struct Edited;

// `text` is what readers see of the block. `depth` is left 0. `gate` may be null. O(length of the
// summary + log n). On the document's strand; nothing is changed. A block whose writer is gone
// shows the status error and the reason "interrupted".
BlockInfo info_of(LiveDocument& document, const BlockRef& block, const seq::Rope& text, Gate* gate);

// The part of `text`, cut at `limits`. Errors: those of edits::view().
Result<BlockText> text_of(LiveDocument& document, const BlockRef& block, const seq::Rope& text,
                          const edits::Window& window, const Limits& limits, Gate* gate);

// The outcome of an edit by that plan. O(snippet + log n). An edit without splices is a `no_op`,
// and has no change to show.
Edited edited_as(LiveDocument& document, const BlockRef& block, edits::Planned planned,
                 const Limits& limits);

}  // namespace quire::kernel
