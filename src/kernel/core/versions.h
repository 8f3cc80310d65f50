// Versions of a block by the ids in its history, and the version of the document that belongs to
// each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "kernel/core/live_document.h"

namespace quire::kernel {

// A point in a block's history.
struct BlockAt {
    std::uint64_t version = 0;    // The block's version; 0 before its first.
    crdt::Frontiers heads = {};   // The document's version; none before its first change.
    std::size_t units_since = 0;  // How many entries of its history are younger.
};

// Finds the version that an id names; no id means the block as it is now. Requires that no text
// is pending or buffered.
//
// Errors: not_found "invalid_reference" {version_id} for a version that is not in the block's
// history; unsupported "version_too_old" for an entry that was stored before entries named the
// document's version.
Result<BlockAt> block_at(LiveDocument& document, const BlockRef& block,
                         const std::optional<std::string>& version_id);
// The version before it in the history. Errors: unsupported "version_too_old".
Result<BlockAt> block_before(const BlockRef& block, const BlockAt& at);

}  // namespace quire::kernel
