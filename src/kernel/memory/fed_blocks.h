// FedBlocks: the memory blocks that have a feed (memory/feed.h), and the gate of their config.
//
// A write by another actor is first made on a copy. If it changes the config, the feed is
// asked. A write to memory can be recorded only with the result, a SourceVerdict, so no call can
// forget to ask. A block is a feed's if it has the feed's label and owner. Everything
// runs on the block's strand.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/memory/memory_header.h"

namespace quire::crdt {
class Doc;
}

namespace quire::kernel {

class LiveDocument;

// The proof that a block's feed, if it has one, has accepted a write; only judge() makes one.
class SourceVerdict {
public:
    const std::optional<SourceAnswer>& answer() const { return answer_; }

private:
    friend class FedBlocks;
    SourceVerdict() = default;
    std::optional<SourceAnswer> answer_;
};

// The feeds outlive it.
class FedBlocks {
public:
    explicit FedBlocks(std::vector<memory::Feed*> feeds) : feeds_(std::move(feeds)) {}

    const std::vector<memory::Feed*>& feeds() const { return feeds_; }
    // The block's feed; null for none.
    memory::Feed* feed_of(const MemoryHeader& header) const;

    // Decides whether a change may be made. `change` is called for fed blocks only; it makes the
    // change in a copy of the document, with all its checks. CHECKs that no transaction is
    // pending. O(history) for fed blocks. Errors: those of `change`; invalid_argument
    // "source_rejected" {source, field, value, allowed}.
    using Change = Function<Result<void>(crdt::Doc&)>;
    Result<SourceVerdict> judge(LiveDocument& document, const MemoryHeader& header,
                                const policy::Actor& by, Change change) const;
    // Checks that `by` may change the block's shape, label and existence; for fed blocks only the
    // source may. `what` is a verb for the message. Error: denied "source_owned" {source}.
    Result<void> check_owned(const MemoryHeader& header, const policy::Actor& by,
                             std::string_view what) const;

    // Called after a change was recorded and before it is submitted. Writes the feed's part in
    // the same transaction, and returns the block's version with the source's answer.
    MemoryVersion settle(LiveDocument& document, const MemoryHeader& header,
                         const SourceVerdict& verdict, std::int64_t now_ms) const;
    // Tells the feed that somebody reads the block.
    void attend(LiveDocument& document, const MemoryHeader& header) const;
    // Writes the feed's present values into the block. False if the block has them already.
    bool feed(LiveDocument& document, const MemoryHeader& header, std::int64_t now_ms) const;

private:
    std::vector<memory::Feed*> feeds_;
};

}  // namespace quire::kernel
