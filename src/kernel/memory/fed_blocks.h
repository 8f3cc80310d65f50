// FedBlocks: the memory blocks that sources own (memory/source.h), and the gate of their config.
//
// A write by another actor is first made on a copy. If it changes the config, the source is
// asked. A write to memory can be recorded only with the result, a SourceVerdict, so no call can
// forget to ask. A block belongs to a source if it has the source's label and owner. Everything
// runs on the block's strand.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "kernel/memory/memory_calls.h"

namespace quire::crdt {
class Doc;
}

namespace quire::kernel {

class LiveDocument;

// The proof that a block's source, if it has one, has accepted a write; only judge() makes one.
class SourceVerdict {
public:
    const std::optional<SourceAnswer>& answer() const { return answer_; }

private:
    friend class FedBlocks;
    SourceVerdict() = default;
    std::optional<SourceAnswer> answer_;
};

// The sources outlive it.
class FedBlocks {
public:
    explicit FedBlocks(std::vector<memory::Source*> sources) : sources_(std::move(sources)) {}

    const std::vector<memory::Source*>& sources() const { return sources_; }
    // The source that feeds the block; null if none does.
    memory::Source* source_of(const MemoryHeader& header) const;

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

    // Called after a change was recorded and before it is submitted. Feeds the source's part in
    // the same transaction, and returns the block's version with the source's answer.
    MemoryVersion settle(LiveDocument& document, const MemoryHeader& header,
                         const SourceVerdict& verdict, std::int64_t now_ms) const;
    // Tells the source that somebody reads the block.
    void attend(LiveDocument& document, const MemoryHeader& header) const;
    // Writes the source's present values into the block. False if the block has them already.
    bool feed(LiveDocument& document, const MemoryHeader& header, std::int64_t now_ms) const;

private:
    std::vector<memory::Source*> sources_;
};

}  // namespace quire::kernel
