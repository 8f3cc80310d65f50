// MemoryCalls::Body: the kernel's frame for memory blocks, and what the use cases share.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "kernel/core/core.h"
#include "kernel/core/versions.h"
#include "kernel/memory/fed_blocks.h"
#include "kernel/memory/memory_calls.h"
#include "memory/gate.h"

namespace quire::kernel {

// A block's header, and the caller's rights over it.
struct OpenedMemory {
    MemoryHeader header;
    policy::Rights rights;

    MemoryRow row(MemoryVersion block) const;
    memory::Writer writer(const policy::Actor& by) const { return {by, rights}; }
};
// Errors: those of every call of MemoryCalls.
Result<OpenedMemory> open_memory(const store::DocumentRecord& record, const policy::Actor& by);
// The rights also hold what people have approved. On the block's strand.
Result<OpenedMemory> open_memory(LiveDocument& document, const Caller& by, Core& kernel);
Failure no_such_memory(const std::string& label);
Failure label_exists(const std::string& label);

// Checks that a block is what TextLabel names: a text, and no archival one.
Result<void> check_text_in_context(LiveDocument& document, const OpenedMemory& opened);

// The words of history for a conversion, before which the schema was another one, and for a
// conversion that only added to the schema.
inline constexpr std::string_view kConversion = "convert";
inline constexpr std::string_view kExtension = "extend";
// Error: unsupported "schema_changed" {version_id} where the block was given another schema since.
Result<void> check_schema(LiveDocument& document, const BlockAt& at, bool additions_too = false);

MemoryVersion version_of_memory(LiveDocument& document);
// History's entry for what is taken back by a call of its own, or not at all.
Unit memory_entry(const policy::Actor& by, std::string description);
// Ends the pending transaction, whose write this was, and records it as one step of undo. False
// where it changed nothing. `verdict`: that whoever feeds the block has seen it.
bool record_memory_write(LiveDocument& document, const policy::Attribution& what,
                         const SourceVerdict& verdict);

// Which blocks have changed since what a search finds them by was stored (memory_search.cc).
class MemoryTexts;
std::shared_ptr<MemoryTexts> make_memory_texts();
// Puts the text that a search finds the block by into its transaction. A long text, and one of a
// block whose content alone was stored moments ago, is left to the next search.
void keep_text(MemoryTexts& texts, LiveDocument& document, std::int64_t now_ms);
// Leaves it to the next search.
void leave_text(MemoryTexts& texts, store::DocumentKey key);

// The kernel itself, which may write all of any block.
memory::Writer kernel_writer();
// Writes what a block is to read as into one that is empty; the values fit the schema, or the
// errors are those of MemoryEdit and it is part done. In the pending transaction.
Result<void> fill_memory(crdt::Doc& doc, const memory::MemoryBlock& block, Value value,
                         std::int64_t now_ms);

// How calls name a memory block: by its label, or its id.
struct MemoryLabel {
    std::string label;

    // Error: not_found "invalid_reference" {label}.
    Result<std::shared_ptr<LiveDocument>> find(Catalog& catalog) const;
    bool is_meant(const Catalog&, LiveDocument& document) const {
        return document.name() == label || document.id_of(document.whole()).str() == label;
    }
};

// A block gets another label and another type.
struct MemoryMove {
    MemoryType type;
    std::string label;
    std::string_view word;  // The word that history shows for it.
};

struct MemoryCalls::Body : std::enable_shared_from_this<MemoryCalls::Body> {
    Body(std::shared_ptr<Core> house, std::vector<memory::Source*> sources)
        : kernel(std::move(house)), fed(std::move(sources)) {}

    std::shared_ptr<Core> kernel;
    const FedBlocks fed;
    std::shared_ptr<MemoryTexts> texts = make_memory_texts();

    // The block's version after a write that was recorded (fed_blocks.h).
    MemoryVersion settle(LiveDocument& document, const OpenedMemory& opened,
                         const SourceVerdict& verdict) const {
        return fed.settle(document, opened.header, verdict, kernel->parts().clock.wall_ms());
    }

    // The kernel's frame, for a memory block: work(LiveDocument&, OpenedMemory&, const Caller&) →
    // Result<T>. The text that searches find the block by goes with what the work changed.
    template <class T, class Label, class Work>
    void run(Caller by, const Label& label, Reply<T> reply, Work work) {
        kernel->run<T>(std::move(by), address_of(label), Access::look, std::move(reply),
                       opened<T, Label>(std::move(work)));
    }
    // run_alone() of the kernel, likewise.
    template <class T, class Label, class Work>
    void run_alone(Caller by, const Label& label, Reply<T> reply, Work work) {
        kernel->run_alone<T>(std::move(by), address_of(label), Access::look, std::move(reply),
                             opened<T, Label>(std::move(work)));
    }

    // `label`: of either kind.
    template <class Label>
    void erase(Caller by, const Label& label, Reply<MemoryVersion> reply);
    void swap(Caller by, std::string label, std::string archival_label, Reply<MemoryMoved> reply);

private:
    static MemoryLabel address_of(const std::string& label) { return {label}; }
    static MemoryLabel address_of(const TextLabel& text) { return {text.label}; }

    template <class T, class Label, class Work>
    auto opened(Work work) {
        return [self = shared_from_this(), work = std::move(work)](
                   LiveDocument& document, const Caller& by) mutable -> Result<T> {
            OpenedMemory memory = TRY(open_memory(document, by, *self->kernel));
            if constexpr (std::is_same_v<Label, TextLabel>)
                TRY(check_text_in_context(document, memory));
            Result<T> made = work(document, memory, by);
            if (made && document.is_due())
                keep_text(*self->texts, document, self->kernel->parts().clock.wall_ms());
            return made;
        };
    }
};

}  // namespace quire::kernel
