// Revise: what a person made of a block in their editor, carried over to what it has become since.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/cursor.h"
#include "crdt/doc/history.h"
#include "json/json.h"
#include "kernel/memory/memory_body.h"
#include "kernel/memory/memory_record.h"
#include "memory/revision.h"
#include "text/merge3.h"

namespace quire::kernel {
namespace {

// If a person and others changed the same words, the person's are shown: they saved last, and the
// others' words are in the block's history.
memory::MergedText merged(std::string_view base, std::string_view now, std::string_view wanted) {
    text::Merged made = text::merge3(base, now, wanted, text::Side::theirs, text::Side::ours);
    return {std::move(made.text), !made.ties.empty()};
}

// A log outgrows every limit an entry at a time: one that has is edited like any other, and grows
// by no more than another write makes it.
Result<void> check_size(const Value& before, const Value& wanted, const Limits& limits) {
    const std::size_t size = json::write(wanted).size();
    if (size <= limits.block_bytes) return {};
    const std::size_t most =
        std::max(limits.block_bytes, json::write(before).size() + limits.operation_bytes);
    if (size <= most) return {};
    return too_large("what is written", most, "Make it smaller");
}

// The version that was shown is made again by a fork, and the person's value is compared with it:
// what they did not change is not written, whatever it is by now. A revision across a conversion is
// refused, because the two values have different shapes.
Result<MemoryRevised> carry_edits(LiveDocument& document, const OpenedMemory& opened,
                                  const policy::Actor& by, const MemoryRevise& what,
                                  const MemoryCalls::Body& body) {
    const Core& kernel = *body.kernel;
    const memory::MemoryBlock& block = opened.header.block;
    crdt::Doc& doc = document.doc();
    MemoryRevised out{version_of_memory(document)};
    const BlockAt at = TRY(block_at(document, document.whole(), what.version_id));
    if (TRY(schema_at(document, opened.header, at)) != block.schema) {
        return fail(Errc::unsupported, "schema_changed",
                    cat("version ", at.version,
                        " is older than the block's conversion to the schema that it has now"),
                    {{"version_id", cat(at.version)}});
    }
    crdt::Doc past = TRY(fork_at(doc, at.heads, doc.peer()));
    const memory::MemoryReader shown(past, block.schema);
    const Value before = shown.value();
    if (before == what.value) return out;
    TRY(check_size(before, what.value, kernel.limits()));

    const auto make = [&](crdt::Doc& of) {
        memory::MemoryEdit edit(of, block, opened.writer(by), kernel.parts().clock.wall_ms());
        return memory::revise(edit, shown, what.value, merged);
    };
    const auto on_draft = [&](crdt::Doc& draft) -> Result<void> {
        TRY(make(draft));
        return {};
    };
    const SourceVerdict verdict = TRY(body.fed.judge(document, opened.header, by, on_draft));
    document.begin(by);
    // All of it or nothing: what is refused is refused on a copy.
    crdt::Doc draft = doc.fork(doc.peer());
    out.both = TRY(make(draft));
    CHECK(make(doc).has_value());
    out.changed = record_memory_write(document, {by, "edit", ""}, verdict);
    out.block = body.settle(document, opened, verdict);
    return out;
}

}  // namespace

void MemoryCalls::revise(Caller by, std::string label, MemoryRevise what,
                         Reply<MemoryRevised> reply) {
    body_->run<MemoryRevised>(
        std::move(by), label, std::move(reply),
        [body = body_, what = std::move(what)](LiveDocument& document, const OpenedMemory& opened,
                                               const Caller& caller) {
            return carry_edits(document, opened, caller.actor, what, *body);
        });
}

}  // namespace quire::kernel
