// Versions of a block by the ids in its history: the version of the document that belongs to each,
// its text, differences between two, and the edit that goes back to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/result.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/live_document.h"
#include "kernel/core/visit.h"

namespace quire::kernel {

// A point in a block's history.
struct BlockAt {
    std::uint64_t version = 0;    // The block's version; 0 before its first.
    crdt::Frontiers heads = {};   // The document's version; none before its first change.
    std::size_t units_since = 0;  // How many entries of its history are younger.
};

// All functions here require that no text is pending or buffered.

// Finds the version that an id names; no id means the block as it is now.
//
// Errors: not_found "invalid_reference" {version_id} for a version that is not in the block's
// history; unsupported "version_too_old" for an entry that was stored before entries named the
// document's version.
Result<BlockAt> block_at(LiveDocument& document, const BlockRef& block,
                         const std::optional<std::string>& version_id);
// The version before it in the history. Errors: unsupported "version_too_old".
Result<BlockAt> block_before(const BlockRef& block, const BlockAt& at);

// The text that a block of a conversation, or a file, had at a version. O(history of the text).
Result<std::string> text_at(LiveDocument& document, const BlockRef& block, const BlockAt& at);

// The text that a container had at a version of the document. It shares with the text now what the
// two have in common. O(what has changed since).
Result<seq::Rope> rope_at(LiveDocument& document, crdt::Handle content,
                          const crdt::Frontiers& heads);
// Makes the change of a text in a copy of it.
void apply_delta(seq::Rope& text, const crdt::TextDelta& delta);

// The name of a block of a conversation, or of a file, in the header of a diff: its id or its path.
// A tab and "version 3" or "on disk" follow there, which programs that apply diffs pass over.
std::string diff_name(LiveDocument& document, const BlockRef& block);

// The difference between two texts of the block. `sides` has everything but the diff itself; a side
// without a version is the file on the disk.
BlockDiff diff_of_texts(std::string_view block, std::string_view before, std::string_view after,
                        BlockDiff sides);
// The difference between two versions, whose texts are text_of(BlockAt) → Result<std::string>. No
// `from` means the version before `to`, no `to` the block now. Errors: those of block_at().
template <class TextOf>
Result<BlockDiff> diff_of_versions(LiveDocument& document, const BlockRef& block,
                                   std::string_view name, const std::optional<std::string>& from,
                                   const std::optional<std::string>& to, TextOf text_of) {
    const BlockAt after = TRY(block_at(document, block, to));
    const BlockAt before =
        from ? TRY(block_at(document, block, from)) : TRY(block_before(block, after));
    const std::string old_text = TRY(text_of(before));
    const std::string new_text = TRY(text_of(after));
    return diff_of_texts(name, old_text, new_text,
                         {block.state->version, cat(before.version), cat(after.version), ""});
}

// The edit that gives the block the text of that version, by the smallest splices. Errors: those of
// block_at() and text_at().
Result<TextEdit> rollback_edit(LiveDocument& document, const BlockRef& block,
                               const std::string& version_id);

// The authors of the text's lines. O(text + entries of history). Errors: those of
// crdt::History::load().
Result<Blame> blame_of(LiveDocument& document, const BlockRef& block);
// The authors of the lines of a text that a block only shows, such as a memory block's: a line is of
// the newest entry that changed it. It compares each version with the one before it, which is
// text_of(BlockAt), and looks at the newest 200 at most; what is older is of the oldest of them.
Result<Blame> blame_by_versions(LiveDocument& document, const BlockRef& block,
                                Function<Result<std::string>(const BlockAt&)> text_of);

}  // namespace quire::kernel
