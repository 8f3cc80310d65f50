// Block events: what the readers of a block are told of each version that it gets. An event is
// classified by what differs between two versions, and not by the call that made the difference. A
// document captures a BlockStep on its strand, project() makes the event of it elsewhere, and a
// BlockHub hands it on. Events that were missed are made again from the history (block_replay.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/enum_words.h"
#include "base/value.h"
#include "edits/text_change.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/hub.h"
#include "seq/rope.h"
#include "store/store.h"

namespace quire::kernel {

enum class BlockEventType { created, appended, replaced, status, metadata, deleted };
constexpr auto words_of(BlockEventType) {
    return word_table("created", "appended", "replaced", "status", "metadata", "deleted");
}

// One version of a block. A flush of several appends is one event, with the last of their versions.
struct BlockEvent {
    // Each type sets its own members, below. These belong to every event, with `updates`,
    // `version_before` and `record`.
    std::string block_id;
    std::uint64_t version = 0;
    std::string actor = {};
    BlockEventType type = BlockEventType::metadata;
    std::string path = {};                 // A file's.
    std::string label = {}, owner = {};    // A memory block's; and where in it the change was,
    std::string section = {}, field = {};  // if that is one place.
    std::string label_before = {};         // Empty unless this change gave it another label.
    // The members below belong to types: appended; replaced, in lines of the version before; status;
    // metadata; created.
    std::optional<std::string> text = {};
    std::optional<std::vector<edits::LineChange>> edits = {};
    std::optional<std::string> status = {};
    std::optional<Map> metadata = {};
    conversation::Marks marks = {};  // With metadata: of a block of a conversation.
    std::optional<BlockInfo> block = {};
    std::optional<std::string> content = {};
    // The operations from the block's version before to this one, and what they depend on, as Loro
    // updates. None where nobody wants them.
    std::optional<Bytes> updates = {};

    // The block's version before this one, 0 for none.
    std::uint64_t version_before = 0;
    // The document's record after the change, by which it is decided who is told.
    std::shared_ptr<const store::DocumentRecord> record = {};
};

// A block at one version, as readers see it. Copies share the text. `status` is "" for a block that
// is a whole document.
struct BlockFacts {
    seq::Rope text;
    std::string status;
    bool is_deleted = false;
};

// A version as its document's strand captures it: an event that lacks what project() finds. The
// texts are copies of ropes, O(1) each, so a step costs its document nothing but memory.
struct BlockStep {
    BlockEvent event;
    BlockFacts before;
    BlockFacts after;
    bool is_new = false;  // There was no version before.
    // The members of events that show the block, or what is known beside its content.
    BlockInfo block = {};
    Map metadata = {};
    conversation::Marks marks = {};
};

// The event of a step. O(what differs), for texts that are copies of one rope. Any thread.
BlockEvent project(BlockStep step);

// The weight of an event in a queue.
std::size_t bytes_of(const BlockEvent& event);

// Blocks of which events were dropped, each with the version up to which its reader had all: what is
// missing is what came after.
template <>
struct LagOf<BlockEvent> {
    using Told = std::map<std::string, std::uint64_t>;
    // The oldest version counts: events of one block may be dropped several times before the reader
    // is told.
    static void note(Told& told, const BlockEvent& event) {
        const auto at = told.emplace(event.block_id, event.version_before).first;
        at->second = std::min(at->second, event.version_before);
    }
    static bool is_lag(const Told& told) { return !told.empty(); }
};

// A reader that lags reads these blocks again from those versions (feed_calls.h, sync_blocks()).
using BlockHub = Hub<BlockEvent>;

}  // namespace quire::kernel
