// Memory blocks that are text, read by lines and edited as conversation blocks are: by a plan of
// what is spliced, through the gate.
#include "kernel/core/describe.h"
#include "kernel/memory/memory_body.h"
#include "kernel/memory/plain_memory.h"
#include "memory/memory_edit.h"
#include "memory/plain_text.h"
#include "memory/splices.h"

namespace quire::kernel {
namespace {

using policy::Operation;

// The kernel's frame for edits calls back twice: admit() with the plan or its refusal, since what a
// plan does decides whether appending is enough, and write() if the plan holds and is admitted. The
// version is that of the block before the edit until write() has made another.
Result<MemoryEdited> edit(LiveDocument& document, const OpenedMemory& opened,
                          const policy::Actor& by, TextEdit& what, const MemoryCalls::Body& body) {
    const Core& kernel = *body.kernel;
    const memory::Writer writer = opened.writer(by);
    const memory::MemoryBlock& block = opened.header.block;
    const std::int64_t now_ms = kernel.parts().clock.wall_ms();
    memory::MemoryEdit edit(document.doc(), block, writer, now_ms);
    const seq::Rope& text = **edit.reader().text();
    MemoryVersion version = version_of_memory(document);

    const auto admitted = [&](Operation operation) -> Result<void> {
        TRY(memory::admit(writer, {operation, "", memory::Shape::text}, block.schema));
        return {};
    };
    const auto admit = [&](const Result<edits::Planned>& planned) -> Result<void> {
        Result<void> may_overwrite = admitted(Operation::overwrite);
        if (may_overwrite) return {};
        // The plan's own refusal needs no approval, so it comes before anybody is asked for one.
        if (!planned && Oversight::is_unasked(may_overwrite.error())) return {};
        if (!planned || !memory::only_appends(planned->splices, text.bytes())) return may_overwrite;
        return admitted(Operation::append);
    };
    const auto write = [&](const edits::Planned& planned) -> Result<void> {
        const SourceVerdict verdict =
            TRY(body.fed.judge(document, opened.header, by, [&](crdt::Doc& draft) {
                memory::MemoryEdit same(draft, block, writer, now_ms);
                return same.splice_text("", what.operation, planned.splices);
            }));
        document.begin(by);
        TRY(edit.splice_text("", what.operation, planned.splices));
        record_memory_write(document, edit.last(), verdict);
        version = body.settle(document, opened, verdict);
        return {};
    };
    Edited edited = TRY(kernel.edit(document, document.whole(), text, what.plan, admit, write));
    return MemoryEdited{std::move(version), std::move(edited)};
}

}  // namespace

Result<std::string> plain_text_of_memory(LiveDocument& document, const policy::Actor& by) {
    const std::string id = document.id_of(document.whole()).str();
    const OpenedMemory opened = TRY(open_memory(document.record(), by, id, true));
    return memory::plain_text({document.doc(), opened.header.block.schema});
}

void MemoryCalls::find(Caller by, std::string label, Reply<MemoryRow> reply) {
    body_->run<MemoryRow>(std::move(by), label, std::move(reply),
                          [](LiveDocument& document, const OpenedMemory& opened, const Caller&) {
                              return Result<MemoryRow>(opened.row(version_of_memory(document)));
                          });
}

void MemoryCalls::read_text(Caller by, TextLabel label, std::optional<text::LineRange> range,
                            Reply<MemoryText> reply) {
    body_->look<MemoryText>(
        std::move(by), label, std::move(reply),
        [body = body_, range](LiveDocument& document, const OpenedMemory& opened,
                              const Caller&) -> Result<MemoryText> {
            const memory::MemoryReader reader(document.doc(), opened.header.block.schema);
            const seq::Rope& text = *TRY(reader.text());
            const Limits& limits = body->kernel->limits();
            edits::View view =
                TRY(edits::view(text, range, {limits.read_lines, limits.read_columns}));
            return MemoryText{version_of_memory(document), std::move(view), text.lines().n};
        });
}

void MemoryCalls::edit_text(Caller by, TextLabel label, std::string operation, edits::Plan plan,
                            Reply<MemoryEdited> reply) {
    body_->run<MemoryEdited>(
        std::move(by), label, std::move(reply),
        [body = body_, what = TextEdit{std::move(operation), std::move(plan)}](
            LiveDocument& document, const OpenedMemory& opened, const Caller& caller) mutable {
            return edit(document, opened, caller.actor, what, *body);
        });
}

}  // namespace quire::kernel
