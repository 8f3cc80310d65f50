// Versions of a block by the ids that its history prints, and the version of its document that each
// was, whatever the block holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "kernel/core/live_document.h"

namespace quire::kernel {

struct BlockAt {
    std::uint64_t version = 0;    // The block's version; 0 before its first.
    crdt::Frontiers heads = {};   // The document's version; none before its first change.
    std::size_t units_since = 0;  // How many entries of its history are younger.
};

// Finds the version that an id names; none is the block as it is now. No text may be pending or
// buffered.
//
// Errors: not_found "invalid_reference" {version_id} for a version that the block's history does
// not show; unsupported "version_too_old" for one whose entry was stored before entries said which
// version of the document they left.
Result<BlockAt> block_at(LiveDocument& document, const BlockRef& block,
                         const std::optional<std::string>& version_id);
// The one before it in the history. Errors: "version_too_old".
Result<BlockAt> block_before(const BlockRef& block, const BlockAt& at);

}  // namespace quire::kernel
