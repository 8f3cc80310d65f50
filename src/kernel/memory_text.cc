// Memory blocks that are text, read by lines and edited as conversation blocks are: by a plan of
// what is spliced, through the gate.
#include "kernel/describe.h"
#include "kernel/memory_body.h"
#include "memory/memory_edit.h"
#include "memory/splices.h"

namespace quire::kernel {
namespace {

using policy::Operation;

// What is done, by the word that history shows for it.
struct TextEdit {
    std::string operation;
    edits::Plan plan;
};

Result<MemoryEdited> edited(LiveDocument& document, const OpenedMemory& opened, const Caller& by,
                            TextEdit& what, const MemoryCalls::Body& body) {
    Kernel::Body& kernel = *body.kernel;
    const memory::Writer writer = opened.writer(by.actor);
    const memory::BlockSchema& schema = opened.header.block.schema;
    const auto admitted = [&](Operation operation) {
        return memory::admit(writer, {operation, "", memory::Shape::text}, schema);
    };
    const auto may_overwrite = admitted(Operation::overwrite);
    const std::int64_t now_ms = kernel.parts().clock.wall_ms();
    memory::MemoryEdit edit(document.doc(), opened.header.block, writer, now_ms);
    const auto text = [&]() -> const seq::Rope& { return **edit.reader().text(); };
    Result<edits::Planned> plan = what.plan(text(), document.whole().state->version);
    // Who may not write is told that, and not what the plan says of the text.
    if (!may_overwrite) {
        if (!plan || !memory::only_appends(plan->splices, text().bytes()))
            return Failure(may_overwrite.error());
        TRY(admitted(Operation::append));
    }
    edits::Planned planned = TRY(std::move(plan));
    TRY(kernel.check_size(text(), planned.splices));
    const bool changes = !planned.splices.empty();
    MemoryVersion block = version_of_memory(document);
    if (changes) {
        const Judged judged =
            TRY(body.fed.judge(document, opened.header, by.actor, [&](crdt::Doc& draft) {
                memory::MemoryEdit same(draft, opened.header.block, writer, now_ms);
                return same.splice_text("", what.operation, planned.splices);
            }));
        document.begin(by.actor);
        TRY(edit.splice_text("", what.operation, planned.splices));
        record_memory_write(document, edit.last(), judged);
        block = body.settle(document, opened, judged);
    }
    return MemoryEdited{std::move(block),
                        edited_as(document, document.whole(), std::move(planned), kernel.limits())};
}

}  // namespace

void MemoryCalls::read_text(Caller by, TextLabel label, std::optional<text::LineRange> range,
                            Reply<MemoryText> reply) {
    body_->with_memory<MemoryText>(
        std::move(by), label, std::move(reply),
        [body = body_, range](LiveDocument& document, const OpenedMemory& opened,
                              Reply<MemoryText> answer) {
            const auto read = [&]() -> Result<MemoryText> {
                const memory::MemoryReader reader(document.doc(), opened.header.block.schema);
                const seq::Rope& text = *TRY(reader.text());
                const Limits& limits = body->kernel->limits();
                return MemoryText{
                    version_of_memory(document),
                    TRY(edits::view(text, range, {limits.read_lines, limits.read_columns})),
                    text.lines().n};
            };
            Result<MemoryText> shown = read();
            if (!shown)
                return body->kernel->refuse(document, std::move(shown).error(), std::move(answer));
            body->kernel->answer(document, std::move(*shown), std::move(answer));
        });
}

void MemoryCalls::edit_text(Caller by, TextLabel label, std::string operation, edits::Plan plan,
                            Reply<MemoryEdited> reply) {
    body_->with_memory<MemoryEdited>(
        by, label, std::move(reply),
        [body = body_, by, what = TextEdit{std::move(operation), std::move(plan)}](
            LiveDocument& document, const OpenedMemory& opened,
            Reply<MemoryEdited> answer) mutable {
            Result<MemoryEdited> made = edited(document, opened, by, what, *body);
            if (!made)
                return body->kernel->refuse(document, std::move(made).error(), std::move(answer));
            if (made->edited.no_op)
                return body->kernel->answer(document, std::move(*made), std::move(answer));
            body->submit_write(document, std::move(*made), std::move(answer));
        });
}

}  // namespace quire::kernel
