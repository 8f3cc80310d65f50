// Subscriptions to blocks, and what was missed without one. Rights are asked about for each event: what
// its caller may not see when it comes, it is not told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function.h"
#include "kernel/core/block_event.h"
#include "kernel/core/caller.h"

namespace quire::kernel {

class Core;

// A block, and the version that somebody has of it.
using BlockAtVersion = std::pair<std::string, std::uint64_t>;

struct BlockWatch {
    // Absent: all that the caller may see, later ones too.
    std::optional<std::vector<std::string>> block_ids = {};
    // Events after these versions come first.
    std::vector<BlockAtVersion> from_versions = {};
    bool wants_updates = false;  // BlockEvent::updates is filled in.
    bool is_pulled = true;       // False: events are only pushed.
};
// Gets each batch of events of a subscription, and its id. Any thread; it does not wait.
using BlockPush = std::function<void(const std::string& id, const BlockHub::Events& events)>;

// Opens a subscription. It has every version that is accepted after the answer: who reads a block then,
// and leaves out what is not newer, has no gap. It ends with the caller's session, or, for a caller
// without `notify`, some minutes after its last use. `push` may be null. Errors: not_found
// "invalid_reference"; those of Hub::open(); invalid_argument "invalid_arguments" for a version of a
// block that is not among block_ids.
void watch_blocks(const std::shared_ptr<Core>& kernel, const Caller& by, BlockWatch what,
                  BlockPush push, Reply<std::string> reply);
// The events that have come; where there are none it waits for some, at most `wait_ms`. Errors: those
// of Hub::pull(). Pulled::kind is 1 for a subscription that wants updates, else 0.
void block_events(const std::shared_ptr<Core>& kernel, const Caller& by, std::string id,
                  std::int64_t wait_ms, Reply<BlockHub::Pulled> reply);
// Ends a subscription, if it is there.
void end_watch(const std::shared_ptr<Core>& kernel, const Caller& by, std::string id);

// The answer to a caller who has some blocks at some versions: the events after them, and the blocks
// that it did not name. Both by block, in the order of documents, whatever order was asked in.
struct BlockSync {
    // Events of blocks that were named, each from the version that the caller has.
    std::vector<BlockEvent> patches;
    std::vector<BlockEvent> new_blocks;  // Each `created`, as it is now.
    // There is more than fits into an answer: the next call with the versions then known has it.
    bool has_more = false;
};
// Changes nothing, and answers the same as long as nothing changes. Errors: not_found
// "invalid_reference".
void sync_blocks(const std::shared_ptr<Core>& kernel, Caller by,
                 std::vector<BlockAtVersion> versions, bool wants_updates, Reply<BlockSync> reply);

}  // namespace quire::kernel
