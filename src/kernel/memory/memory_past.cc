// History of a memory block: versions, differences, undo and rollback.
#include <algorithm>

#include "kernel/core/take_back.h"
#include "kernel/memory/memory_body.h"
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

// The block's text at a version, by the schema that it has now.
Result<std::string> text_at(crdt::Doc& doc, const memory::BlockSchema& schema, const BlockAt& at) {
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
        TRY(text_at(document.doc(), schema, before)), TRY(text_at(document.doc(), schema, after)),
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

Result<MemoryVersion> roll_back(LiveDocument& document, const OpenedMemory& opened,
                                const policy::Actor& by, const std::string& version_id,
                                const MemoryCalls::Body& body) {
    TRY(policy::permit(opened.rights, Operation::overwrite));
    crdt::Doc& doc = document.doc();
    const BlockAt at = TRY(block_at(document, document.whole(), version_id));
    TRY(check_schema(document, at));
    const crdt::Diff back = TRY(doc.history().diff(doc.frontiers(), at.heads));
    if (back.empty()) return version_of_memory(document);
    document.begin(by);
    TRY(check_return(document, opened.header, opened.writer(by), back));
    const SourceVerdict verdict =
        TRY(body.fed.judge(document, opened.header, by,
                           [&](crdt::Doc& draft) { return crdt::apply_diff(draft, back); }));
    document.begin(by);
    TRY(crdt::apply_diff(doc, back));
    if (!record_memory_write(document, {by, "rollback", version_id}, verdict))
        return version_of_memory(document);
    return body.settle(document, opened, verdict);
}

}  // namespace

void MemoryCalls::undo(Caller by, std::string label, bool redo, Reply<MemoryUndone> reply) {
    body_->run<MemoryUndone>(
        std::move(by), label, std::move(reply),
        [body = body_, redo](LiveDocument& document, const OpenedMemory& opened,
                             const Caller& caller) -> Result<MemoryUndone> {
            TRY(policy::permit(opened.rights, Operation::overwrite));
            const BlockRef block = document.whole();
            const std::vector<Unit*> units = TRY(
                next_to_take_back(block.state->history, caller.actor.str(), UndoScope::own, redo));
            const std::vector<crdt::IdSpan> spans = spans_of(units);
            document.begin(caller.actor);
            const auto on_draft = [&](crdt::Doc& draft) -> Result<void> {
                TRY(crdt::revert(draft, spans));
                return {};
            };
            const SourceVerdict verdict =
                TRY(body->fed.judge(document, opened.header, caller.actor, on_draft));
            const crdt::Undone done = TRY(crdt::revert(document.doc(), spans));
            end_take_back(document, block, caller.actor,
                          {units, redo, done.skipped > 0, done.settled});
            return MemoryUndone{body->settle(document, opened, verdict), done.restored,
                                done.removed, done.skipped};
        });
}

void MemoryCalls::history(Caller by, std::string label, std::size_t limit, std::string cursor,
                          Reply<MemoryHistory> reply) {
    body_->run<MemoryHistory>(
        std::move(by), label, std::move(reply),
        [limit, cursor = std::move(cursor)](LiveDocument& document, const OpenedMemory&,
                                            const Caller&) -> Result<MemoryHistory> {
            return MemoryHistory{version_of_memory(document),
                                 TRY(Core::history(document.whole(), limit, cursor))};
        });
}

void MemoryCalls::diff(Caller by, std::string label, std::optional<std::string> from,
                       std::optional<std::string> to, Reply<MemoryDiff> reply) {
    body_->run<MemoryDiff>(std::move(by), label, std::move(reply),
                           [from = std::move(from), to = std::move(to)](
                               LiveDocument& document, const OpenedMemory& opened, const Caller&) {
                               return difference(document, opened.header.block.schema, from, to);
                           });
}

void MemoryCalls::rollback(Caller by, std::string label, std::string version_id,
                           Reply<MemoryVersion> reply) {
    body_->run<MemoryVersion>(
        std::move(by), label, std::move(reply),
        [body = body_, version_id = std::move(version_id)](
            LiveDocument& document, const OpenedMemory& opened, const Caller& caller) {
            return roll_back(document, opened, caller.actor, version_id, *body);
        });
}

}  // namespace quire::kernel
