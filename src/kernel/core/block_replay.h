// Block replay: the events that lead from an earlier version of a block to the one it has now, from
// its history.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/core/block_event.h"
#include "kernel/core/live_document.h"

namespace quire::kernel {

class Core;

// The most events that one replay gives, and their bytes. Beyond that the block is shown as it is.
inline constexpr std::size_t kMostReplayed = 1000;
inline constexpr std::size_t kMostReplayedBytes = std::size_t{1} << 20;

// The events after version `seen`, oldest first; none for a version that is not older. From a version
// that no entry of its history ends with, or that lies too far back, it is one event `created` with
// the block as it is now. With `with_updates` each has its BlockEvent::updates. On the strand, with no
// appends waiting. Costs a difference of versions for each. Errors: those of crdt::History::load().
Result<std::vector<BlockEvent>> replay_since(Core& core, LiveDocument& document,
                                             const BlockRef& block, std::uint64_t seen,
                                             bool with_updates);

// The event `created` of a block as it is now; its updates begin at `from`.
Result<BlockEvent> whole_block(Core& core, LiveDocument& document, const BlockRef& block,
                               const crdt::Frontiers* updates_from);

}  // namespace quire::kernel
