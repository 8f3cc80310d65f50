// What is behind MemoryCalls: how a call reaches its block, and what it knows of it then.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "kernel/body.h"
#include "kernel/fed_blocks.h"
#include "kernel/memory_calls.h"
#include "kernel/versions.h"
#include "memory/gate.h"

namespace quire::kernel {

// What is known of a block, and what the caller may do with it.
struct OpenedMemory {
    MemoryHeader header;
    policy::Rights rights;

    MemoryRow row(MemoryVersion block) const;
    memory::Writer writer(const policy::Actor& by) const { return {by, rights}; }
};
// Errors: those of every call of MemoryCalls.
Result<OpenedMemory> open_memory(const store::DocumentRecord& record, const policy::Actor& by);
// The same with what people have approved. On the block's strand.
Result<OpenedMemory> open_memory(LiveDocument& document, const Caller& by, Kernel::Body& kernel);
Failure no_such_memory(const std::string& label);
Failure label_exists(const std::string& label);

// What TextLabel says of the block that it names.
Result<void> check_text_in_context(LiveDocument& document, const OpenedMemory& opened);

// What history says of a conversion: what is older is of another schema. And of one that only added
// to the schema.
inline constexpr std::string_view kConversion = "convert";
inline constexpr std::string_view kExtension = "extend";
// Error: unsupported "schema_changed" {version_id} where the block was given another schema since.
Result<void> check_schema(LiveDocument& document, const BlockAt& at, bool additions_too = false);

MemoryVersion version_of_memory(LiveDocument& document);
// History's entry for what is taken back by a call of its own, or not at all.
Unit memory_entry(const policy::Actor& by, std::string description);
// Ends the pending transaction, whose write this was, and records it as one step of undo. False
// where it changed nothing. `judged`: that whoever feeds the block has seen it.
bool record_memory_write(LiveDocument& document, const policy::Attribution& what,
                         const Judged& judged);

// Which blocks have changed since what a search finds them by was stored (memory_search.cc).
class MemoryTexts;
std::shared_ptr<MemoryTexts> make_memory_texts();
// Puts what a search finds the block by into its transaction; where that is long, it is left to the
// next search.
void keep_text(MemoryTexts& texts, LiveDocument& document);
// The same where only the content has changed: not again within a moment of the last time.
void keep_content(MemoryTexts& texts, LiveDocument& document, std::int64_t now_ms);
// Leaves it to the next search.
void leave_text(MemoryTexts& texts, store::DocumentKey key);

// Who may write all of any block.
memory::Writer house_writer();
// Writes what a block is to read as into one that is empty; the values fit the schema, or the
// errors are those of MemoryEdit and it is part done. In the pending transaction.
Result<void> fill_memory(crdt::Doc& doc, const memory::MemoryBlock& block, Value value,
                         std::int64_t now_ms);

// A block gets another label and another type.
struct MemoryMove {
    MemoryType type;
    std::string label;
    std::string_view word;  // What history calls it.
};

struct MemoryCalls::Body : std::enable_shared_from_this<MemoryCalls::Body> {
    Body(std::shared_ptr<Kernel::Body> house, std::vector<memory::Source*> sources)
        : kernel(std::move(house)), fed(std::move(sources)) {}

    std::shared_ptr<Kernel::Body> kernel;
    const FedBlocks fed;
    std::shared_ptr<MemoryTexts> texts = make_memory_texts();

    // As the kernel's, with what a search finds the block by.
    template <class T>
    void submit(LiveDocument& document, T value, Reply<T> reply) {
        keep_text(*texts, document);
        kernel->submit(document, std::move(value), std::move(reply));
    }
    // The same of a write, of which there may be many in a row.
    template <class T>
    void submit_write(LiveDocument& document, T value, Reply<T> reply) {
        keep_content(*texts, document, kernel->parts().clock.wall_ms());
        kernel->submit(document, std::move(value), std::move(reply));
    }

    // What the block is after a write that was recorded (fed_blocks.h).
    MemoryVersion settle(LiveDocument& document, const OpenedMemory& opened,
                         const Judged& judged) const {
        return fed.settle(document, opened.header, judged, kernel->parts().clock.wall_ms());
    }

    std::shared_ptr<LiveDocument> find(const std::string& label) const;

    // Runs work(document, opened, reply) on the block's strand.
    template <class T, class Work>
    void with_memory(Caller by, const TextLabel& text, Reply<T> reply, Work work) {
        with_memory<T>(std::move(by), text.label, std::move(reply),
                       [self = shared_from_this(), work = std::move(work)](
                           LiveDocument& live, OpenedMemory& opened, Reply<T> answer) mutable {
                           const Result<void> right = check_text_in_context(live, opened);
                           if (!right)
                               return self->kernel->refuse(live, right.error(), std::move(answer));
                           work(live, opened, std::move(answer));
                       });
    }
    template <class T, class Work>
    void with_memory(Caller by, const std::string& label, Reply<T> reply, Work work) {
        std::shared_ptr<LiveDocument> document = find(label);
        if (document == nullptr) return reply(no_such_memory(label));
        kernel->on_document<T>(
            by, std::move(document), Access::look, std::move(reply),
            [self = shared_from_this(), by, label, work = std::move(work)](
                LiveDocument& live, Reply<T> answer) mutable {
                if (!goes_by(live, label)) {
                    // It has been moved since it was found: it is looked for where it is then.
                    return live.when_durable([self, by, label, work = std::move(work),
                                              answer = std::move(answer)](Result<void>) mutable {
                        self->with_memory<T>(by, label, std::move(answer), std::move(work));
                    });
                }
                Result<OpenedMemory> opened = open_memory(live, by, *self->kernel);
                if (!opened)
                    return self->kernel->refuse(live, std::move(opened).error(), std::move(answer));
                work(live, *opened, std::move(answer));
            });
    }

    // The same once all that was done to the block is durable. Until the work replies no other call
    // sees the block.
    template <class T, class Label, class Work>
    void with_held_memory(Caller by, const Label& label, Reply<T> reply, Work work) {
        with_memory<T>(
            std::move(by), label, std::move(reply),
            [work = std::move(work)](LiveDocument& live, OpenedMemory& opened,
                                     Reply<T> answer) mutable {
                live.hold();
                Reply<T> released = [held = live.shared_from_this(),
                                     answer = std::move(answer)](Result<T> result) mutable {
                    answer(std::move(result));
                    held->release();
                };
                live.when_durable([&live, opened = std::move(opened), work = std::move(work),
                                   released = std::move(released)](Result<void> durable) mutable {
                    if (!durable) return released(Failure(std::move(durable).error()));
                    work(live, opened, std::move(released));
                });
            });
    }

    void create(const Caller& by, std::shared_ptr<const MemoryHeader> header, std::string content,
                Reply<MemoryVersion> reply);
    // By either kind of label.
    template <class Label>
    void erase(const Caller& by, const Label& label, Reply<MemoryVersion> reply);
    void move(LiveDocument& document, OpenedMemory& opened, const policy::Actor& by, MemoryMove to,
              Reply<MemoryVersion> reply);
    void swap(Caller by, std::string label, std::string archival_label, Reply<MemoryMoved> reply);

    static bool goes_by(LiveDocument& document, const std::string& label);
};

}  // namespace quire::kernel
