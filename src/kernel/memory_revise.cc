// Revise: what a person made of a block in their editor, carried over to what it has become since.
#include "base/check.h"
#include "document/revision.h"
#include "files/merge3.h"
#include "json/json.h"
#include "kernel/memory_body.h"

namespace quire::kernel {
namespace {

// Where a person and others changed the same words the person's are shown: they saved last, and
// what the others wrote is in the block's history.
document::MergedText merged(std::string_view base, std::string_view now, std::string_view wanted) {
    files::Merged made = files::merge3(base, now, wanted, files::Side::theirs, files::Side::ours);
    return {std::move(made.text), !made.ties.empty()};
}

Result<MemoryRevised> carry_over(LiveDocument& document, const OpenedMemory& opened,
                                 const policy::Actor& by, const MemoryRevise& what,
                                 std::int64_t now_ms) {
    const document::MemoryBlock& block = opened.header.block;
    crdt::Doc& doc = document.doc();
    MemoryRevised out{version_of_memory(document)};
    const BlockAt at = TRY(block_at(document, document.whole(), what.version_id));
    TRY(check_schema(document, at, true));
    crdt::Doc past = TRY(doc.fork_at(at.heads, doc.peer()));
    const document::MemoryReader shown(past, block.schema);
    if (shown.value() == what.value) return out;

    document.begin(by);
    // All of it or nothing: what is refused is refused on a copy.
    crdt::Doc draft = doc.fork(doc.peer());
    const auto make = [&](crdt::Doc& of) {
        document::MemoryEdit edit(of, block, opened.writer(by), now_ms);
        return document::revise(edit, shown, what.value, merged);
    };
    out.both = TRY(make(draft));
    CHECK(make(doc).has_value());
    out.changed = record_memory_write(document, {by, "edit", ""});
    out.block = version_of_memory(document);
    return out;
}

}  // namespace

void MemoryCalls::revise(Caller by, std::string label, MemoryRevise what,
                         Reply<MemoryRevised> reply) {
    const std::size_t limit = body_->kernel->limits().block_bytes;
    if (json::write(what.value).size() > limit)
        return reply(too_large("what is written", limit, "Make it smaller"));
    body_->with_memory<MemoryRevised>(
        by, label, std::move(reply),
        [body = body_, by, what = std::move(what)](
            LiveDocument& document, const OpenedMemory& opened, Reply<MemoryRevised> answer) {
            Result<MemoryRevised> made =
                carry_over(document, opened, by.actor, what, body->kernel->parts().clock.wall_ms());
            if (!made)
                return body->kernel->refuse(document, std::move(made).error(), std::move(answer));
            if (!made->changed)
                return body->kernel->answer(document, std::move(*made), std::move(answer));
            body->submit_write(document, std::move(*made), std::move(answer));
        });
}

}  // namespace quire::kernel
