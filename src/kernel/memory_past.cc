// What was done to a memory block, and taking it back.
#include <algorithm>

#include "kernel/memory_body.h"
#include "kernel/take_back.h"
#include "memory/incoming.h"
#include "memory/plain_text.h"
#include "text/diff.h"

namespace quire::kernel {

using policy::Operation;

Result<void> check_schema(LiveDocument& document, const BlockAt& at, bool additions_too) {
    const std::vector<Unit>& units = document.whole().state->history.units();
    const bool changed = std::any_of(
        units.end() - static_cast<std::ptrdiff_t>(std::min(at.units_since, units.size())),
        units.end(), [&](const Unit& unit) {
            const bool is_change = unit.description == kConversion ||
                                   (additions_too && unit.description == kExtension);
            return unit.kind == UnitKind::take_back && is_change;
        });
    if (!changed) return {};
    return fail(Errc::unsupported, "schema_changed",
                cat("version ", at.version,
                    " is older than the block's conversion to the schema "
                    "that it has now"),
                {{"version_id", cat(at.version)}});
}

namespace {

// What the block said at a version, by the schema that it has now.
Result<std::string> text_of(crdt::Doc& doc, const memory::BlockSchema& schema, const BlockAt& at) {
    if (at.units_since == 0) return memory::plain_text({doc, schema});
    crdt::Doc past = TRY(doc.fork_at(at.heads, doc.peer()));
    return memory::plain_text({past, schema});
}

Result<MemoryDiff> difference(LiveDocument& document, const memory::BlockSchema& schema,
                              const std::optional<std::string>& from,
                              const std::optional<std::string>& to) {
    const BlockRef block = document.whole();
    const BlockAt after = TRY(block_at(document, block, to));
    const BlockAt before =
        from ? TRY(block_at(document, block, from)) : TRY(block_before(block, after));
    TRY(check_schema(document, before));
    TRY(check_schema(document, after));
    MemoryDiff out{version_of_memory(document), cat(before.version), cat(after.version), ""};
    out.diff = text::unified_diff(
        TRY(text_of(document.doc(), schema, before)), TRY(text_of(document.doc(), schema, after)),
        {.from = cat(document.name(), " ", out.from), .to = cat(document.name(), " ", out.to)});
    return out;
}

// The changes that make the block what it was, as another replica would make them: what the gate
// for such changes lets through may be made here.
Result<void> check_return(LiveDocument& document, const MemoryHeader& header,
                          const memory::Writer& by, const crdt::Diff& back) {
    crdt::Doc draft = document.doc().fork(document.doc().peer());
    TRY(crdt::apply_diff(draft, back));
    const crdt::IdSpan span = draft.commit().span;
    if (span.size() == 0) return {};
    return memory::check_incoming(document.doc(), header.block, by,
                                  draft.changes_in({&span, 1}).changes(), {.go_back = true});
}

// None where the block is so already.
Result<std::optional<MemoryVersion>> roll_back(LiveDocument& document, const OpenedMemory& opened,
                                               const policy::Actor& by,
                                               const std::string& version_id,
                                               const MemoryCalls::Body& body) {
    TRY(policy::permit(opened.rights, Operation::overwrite));
    crdt::Doc& doc = document.doc();
    const BlockAt at = TRY(block_at(document, document.whole(), version_id));
    TRY(check_schema(document, at));
    const crdt::Diff back = TRY(doc.history().diff(doc.frontiers(), at.heads));
    if (back.empty()) return std::nullopt;
    document.begin(by);
    TRY(check_return(document, opened.header, opened.writer(by), back));
    const Judged judged = TRY(body.fed.judge(document, opened.header, by, [&](crdt::Doc& draft) {
        return crdt::apply_diff(draft, back);
    }));
    document.begin(by);
    TRY(crdt::apply_diff(doc, back));
    if (!record_memory_write(document, {by, "rollback", version_id}, judged)) return std::nullopt;
    return body.settle(document, opened, judged);
}

}  // namespace

void MemoryCalls::undo(Caller by, std::string label, bool redo, Reply<MemoryUndone> reply) {
    body_->with_memory<MemoryUndone>(
        by, label, std::move(reply),
        [body = body_, by, redo](LiveDocument& document, const OpenedMemory& opened,
                                 Reply<MemoryUndone> answer) {
            const auto refuse = [&](const Error& why) {
                body->kernel->refuse(document, why, std::move(answer));
            };
            const Result<void> allowed = policy::permit(opened.rights, Operation::overwrite);
            if (!allowed) return refuse(allowed.error());
            const BlockRef block = document.whole();
            const Result<std::vector<Unit*>> units =
                next_to_take_back(block.state->history, by.actor.str(), UndoScope::own, redo);
            if (!units) return refuse(units.error());
            const std::vector<crdt::IdSpan> spans = spans_of(*units);
            document.begin(by.actor);
            const Result<Judged> judged = body->fed.judge(document, opened.header, by.actor,
                                                          [&](crdt::Doc& draft) -> Result<void> {
                                                              TRY(crdt::revert(draft, spans));
                                                              return {};
                                                          });
            if (!judged) return refuse(judged.error());
            const Result<crdt::Undone> done = crdt::revert(document.doc(), spans);
            if (!done) return refuse(done.error());
            end_take_back(document, block, by.actor,
                          {*units, redo, done->skipped > 0, done->settled});
            MemoryUndone undone{body->settle(document, opened, *judged), done->restored,
                                done->removed, done->skipped};
            body->submit_write(document, std::move(undone), std::move(answer));
        });
}

void MemoryCalls::history(Caller by, std::string label, std::size_t limit, std::string cursor,
                          Reply<MemoryHistory> reply) {
    body_->with_memory<MemoryHistory>(
        by, label, std::move(reply),
        [body = body_, limit, cursor = std::move(cursor)](
            LiveDocument& document, const OpenedMemory&, Reply<MemoryHistory> answer) {
            MemoryVersion block = version_of_memory(document);
            body->kernel->history(document, document.whole(), limit, cursor,
                                  [block = std::move(block),
                                   answer = std::move(answer)](Result<HistoryPage> page) mutable {
                                      if (!page) return answer(Failure(std::move(page).error()));
                                      answer(MemoryHistory{std::move(block), std::move(*page)});
                                  });
        });
}

void MemoryCalls::diff(Caller by, std::string label, std::optional<std::string> from,
                       std::optional<std::string> to, Reply<MemoryDiff> reply) {
    body_->with_memory<MemoryDiff>(
        by, label, std::move(reply),
        [body = body_, from = std::move(from), to = std::move(to)](
            LiveDocument& document, const OpenedMemory& opened, Reply<MemoryDiff> answer) {
            Result<MemoryDiff> found = difference(document, opened.header.block.schema, from, to);
            if (!found)
                return body->kernel->refuse(document, std::move(found).error(), std::move(answer));
            body->kernel->answer(document, std::move(*found), std::move(answer));
        });
}

void MemoryCalls::rollback(Caller by, std::string label, std::string version_id,
                           Reply<MemoryVersion> reply) {
    body_->with_memory<MemoryVersion>(
        by, label, std::move(reply),
        [body = body_, by, version_id = std::move(version_id)](
            LiveDocument& document, const OpenedMemory& opened, Reply<MemoryVersion> answer) {
            auto made = roll_back(document, opened, by.actor, version_id, *body);
            if (!made) return body->kernel->refuse(document, made.error(), std::move(answer));
            if (!*made) {
                return body->kernel->answer(document, version_of_memory(document),
                                            std::move(answer));
            }
            body->submit_write(document, std::move(**made), std::move(answer));
        });
}

}  // namespace quire::kernel
