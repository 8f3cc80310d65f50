// FedBlocks: the memory blocks that sources own (memory/source.h), and the gate of their config.
//
// A write by anybody but the source is made on a copy first, and if it changes the config, the
// source is asked. No call records a write to memory without the outcome (SourceVerdict). A block is
// a source's if it has the source's label and owner. Everything runs on the block's strand.
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

class SourceVerdict {
public:
    const std::optional<SourceAnswer>& answer() const { return answer_; }

private:
    friend class FedBlocks;
    SourceVerdict() = default;
    std::optional<SourceAnswer> answer_;
};

class FedBlocks {
public:
    explicit FedBlocks(std::vector<memory::Source*> sources) : sources_(std::move(sources)) {}

    const std::vector<memory::Source*>& sources() const { return sources_; }
    // Null for a block that no source feeds.
    memory::Source* source_of(const MemoryHeader& header) const;

    // Whether the change may be made. `change` makes it in a document of its own, with every check
    // that it has, and is called for fed blocks alone. CHECKs that no transaction is pending.
    // O(history) there. Errors: those of `change`; invalid_argument "source_rejected" {source,
    // field, value, allowed}.
    using Change = Function<Result<void>(crdt::Doc&)>;
    Result<SourceVerdict> judge(LiveDocument& document, const MemoryHeader& header,
                                const policy::Actor& by, Change change) const;
    // Whether the block may become something else: its shape, its label and its end are the
    // source's. `what`: a verb. Error: denied "source_owned" {source}.
    Result<void> check_owned(const MemoryHeader& header, const policy::Actor& by,
                             std::string_view what) const;

    // After a change was recorded and before it is submitted: what the block is now, with what the
    // source said; the source's own part follows in the same transaction.
    MemoryVersion settle(LiveDocument& document, const MemoryHeader& header,
                         const SourceVerdict& verdict, std::int64_t now_ms) const;
    // Somebody reads the block.
    void attend(LiveDocument& document, const MemoryHeader& header) const;
    // Makes the block say what its source has to say. False where it does already.
    bool feed(LiveDocument& document, const MemoryHeader& header, std::int64_t now_ms) const;

private:
    std::vector<memory::Source*> sources_;
};

}  // namespace quire::kernel
