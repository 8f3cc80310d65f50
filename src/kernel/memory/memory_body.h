// MemoryCalls::Body: the kernel's frame for memory blocks, and the common parts of the use cases.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "base/clock.h"
#include "kernel/core/core.h"
#include "kernel/core/versions.h"
#include "kernel/memory/fed_blocks.h"
#include "kernel/memory/memory_address.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/memory/memory_header.h"
#include "memory/gate.h"
#include "policy/attribution.h"

namespace quire::kernel {

// A block's header, and the caller's rights over it.
struct OpenedMemory {
    MemoryHeader header;
    policy::Rights rights;

    MemoryRow row(MemoryVersion block) const;
    memory::Writer writer(const policy::Actor& by) const { return {by, rights}; }
};
// `asked`: how the caller named the block, for the refusal. Errors: those of every call of
// MemoryCalls.
Result<OpenedMemory> open_memory(const store::DocumentRecord& record, const policy::Actor& by,
                                 const std::string& asked, bool deleted_too = false);
// The rights also hold what people have approved. On the block's strand.
Result<OpenedMemory> open_memory(LiveDocument& document, const Caller& by, const std::string& asked,
                                 Core& kernel, bool deleted_too = false);
// The name that the catalog has for the block under that label.
Name name_of_memory(const LiveDocument& document, const std::string& label);

// Checks that the block is of the kind that TextLabel names: a Text that is not archival.
Result<void> check_text_in_context(LiveDocument& document, const OpenedMemory& opened);

MemoryVersion version_of_memory(LiveDocument& document);
// An entry of history that is not undone by the usual undo, such as a rename.
Unit memory_entry(const policy::Actor& by, std::string description);
// Ends the pending transaction and records it as one unit of undo. False if it changed nothing.
// `verdict` proves that the block's source was asked.
bool record_memory_write(LiveDocument& document, const policy::Attribution& what,
                         const SourceVerdict& verdict);

// The blocks whose indexed text is older than their content (memory_search.cc).
class MemoryTexts;
std::shared_ptr<MemoryTexts> make_memory_texts();
// Puts the block's indexed text into its transaction. A long text, or one that was stored moments
// ago and whose block only changed its content, is left to the next search.
void keep_text(MemoryTexts& texts, LiveDocument& document, std::int64_t now_ms);
// Leaves the block's indexed text to the next search.
void leave_text(MemoryTexts& texts, store::DocumentKey key);

class HeldMemorySettings;  // memory_settings.h
std::shared_ptr<HeldMemorySettings> make_memory_settings();

// The kernel as a writer, which may write every part of any block.
memory::Writer kernel_writer();
// Writes `value` into an empty block, in the pending transaction. Errors: those of MemoryEdit for
// values that do not fit the schema; the block is then partly filled.
Result<void> fill_memory(crdt::Doc& doc, const memory::MemoryBlock& block, Value value,
                         std::int64_t now_ms);

// A block gets another label and another type.
struct MemoryMove {
    MemoryType type;
    std::string label;
    std::string_view word;  // The word that history shows for it.
};

struct MemoryCalls::Body : std::enable_shared_from_this<MemoryCalls::Body> {
    Body(std::shared_ptr<Core> core, std::vector<memory::Feed*> feeds)
        : kernel(std::move(core)), fed(std::move(feeds)) {}

    std::shared_ptr<Core> kernel;
    const FedBlocks fed;
    std::shared_ptr<MemoryTexts> texts = make_memory_texts();
    std::shared_ptr<HeldMemorySettings> settings = make_memory_settings();

    // The block's version after a recorded write (fed_blocks.h).
    MemoryVersion settle(LiveDocument& document, const OpenedMemory& opened,
                         const SourceVerdict& verdict) const {
        return fed.settle(document, opened.header, verdict, kernel->parts().clock.wall_ms());
    }

    template <class T>
    using MemoryTask = Function<Result<T>(LiveDocument&, OpenedMemory&, const Caller&)>;
    // Runs the work in the kernel's frame. If it changed something, the block's indexed text is
    // updated in the same transaction.
    template <class T, class Label>
    void run(Caller by, const Label& label, Reply<T> reply, MemoryTask<T> work) {
        MemoryAddress address{text_of(label), by.actor};
        kernel->run<T>(std::move(by), std::move(address), Access::look, std::move(reply),
                       opened<T>(label, std::move(work)));
    }
    // Like run(), for work that only reads, as Core::look() does.
    template <class T, class Label>
    void look(Caller by, const Label& label, Reply<T> reply, MemoryTask<T> work) {
        MemoryAddress address{text_of(label), by.actor};
        kernel->look<T>(std::move(by), std::move(address), Access::look, std::move(reply),
                        opened<T>(label, std::move(work)));
    }
    // Like run(), but no other call enters the block before the answer.
    template <class T, class Label>
    void run_alone(Caller by, const Label& label, Reply<T> reply, MemoryTask<T> work) {
        MemoryAddress address{text_of(label), by.actor};
        kernel->run_alone<T>(std::move(by), std::move(address), Access::look, std::move(reply),
                             opened<T>(label, std::move(work)));
    }
    // run_alone(), for calls that find a block by what it was: deleted blocks are found too.
    template <class T>
    void run_on_past(Caller by, const std::string& label, MemoryAddress::Among among,
                     Reply<T> reply, MemoryTask<T> work) {
        MemoryAddress address{label, by.actor, among};
        kernel->run_alone<T>(std::move(by), std::move(address), Access::look, std::move(reply),
                             opened<T>(label, std::move(work), true));
    }

    // Deletes a block named by either kind of label.
    template <class Label>
    void erase(Caller by, const Label& label, Reply<MemoryVersion> reply);
    template <class Label>
    void rename(Caller by, const Label& label, std::string to, Reply<MemoryVersion> reply);
    void swap(Caller by, std::string label, std::string archival_label, Reply<MemoryMoved> reply);
    // Takes back, or redoes, the swap of these two blocks.
    void take_swap_back(Caller by, std::shared_ptr<LiveDocument> found, store::DocumentKey partner,
                        bool redo, Reply<MemoryUndone> reply);

    void search(Caller by, MemorySearch what, Reply<MemoryFound> reply, bool mends);

private:
    static const std::string& text_of(const std::string& label) { return label; }
    static const std::string& text_of(const TextLabel& text) { return text.label; }

    template <class T, class Label>
    Task<T> opened(const Label& label, MemoryTask<T> work, bool deleted_too = false) {
        return [self = shared_from_this(), asked = text_of(label), work = std::move(work),
                deleted_too](LiveDocument& document, const Caller& by) mutable -> Result<T> {
            OpenedMemory memory = TRY(open_memory(document, by, asked, *self->kernel, deleted_too));
            if constexpr (std::is_same_v<Label, TextLabel>)
                TRY(check_text_in_context(document, memory));
            Result<T> made = work(document, memory, by);
            if (made && document.transaction().is_due())
                keep_text(*self->texts, document, self->kernel->parts().clock.wall_ms());
            return made;
        };
    }
};

}  // namespace quire::kernel
