// History of a memory block: versions, differences, undo and rollback.
//
// A block has two pasts. Its content is in the CRDT document, where undo reverts one actor's
// operations and rollback applies the difference to an old version. Its record (label, type, schema,
// deletion) is kept by the store; a change of it stands in the undo unit as the record before and
// after, and is taken back whole or not at all. A conversion changes both, in one unit. Whatever is
// brought back passes the same gate as a write, with the schema of its own version: nobody regains
// by undo what they may not write. O(content) for a diff or a rollback across versions.
#include "crdt/doc/apply.h"
#include "crdt/doc/history.h"
#include "kernel/core/take_back.h"
#include "kernel/memory/memory_body.h"
#include "kernel/memory/memory_record.h"
#include "kernel/memory/plain_memory.h"
#include "memory/convert.h"
#include "memory/incoming.h"
#include "memory/plain_text.h"
#include "text/escape_hidden.h"

namespace quire::kernel {

using policy::Operation;

namespace {

// The block's text at a version, by the schema that it had then.
Result<std::string> plain_text_at(LiveDocument& document, const MemoryHeader& header,
                                  const BlockAt& at) {
    const memory::BlockSchema schema = TRY(schema_at(document, header, at));
    crdt::Doc& doc = document.doc();
    if (at.units_since == 0) return memory::plain_text({doc, schema});
    crdt::Doc past = TRY(fork_at(doc, at.heads, doc.peer()));
    return memory::plain_text({past, schema});
}

Result<MemoryDiff> difference(LiveDocument& document, const MemoryHeader& header,
                              const std::optional<std::string>& from,
                              const std::optional<std::string>& to) {
    BlockDiff diff = TRY(
        diff_of_versions(document, document.whole(), text::escape_hidden(document.name()), from, to,
                         [&](const BlockAt& at) { return plain_text_at(document, header, at); }));
    return MemoryDiff{version_of_memory(document), std::move(diff.from), std::move(diff.to),
                      std::move(diff.diff)};
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

// A version of the block that it goes back to, and the schema of then.
struct Past {
    BlockAt at;
    memory::BlockSchema schema;
};

// Goes back across a conversion: the schema and the content together. The gate of today's schema says
// nothing about the other one, so nothing that is read-only may differ, and an agent needs what
// overwriting all of the block needs.
Result<MemoryVersion> roll_back_schema(LiveDocument& document, OpenedMemory& opened,
                                       const policy::Actor& by, Past to, Catalog& catalog) {
    const bool is_sharee = by.kind == policy::ActorKind::agent && by != opened.header.owner;
    if (is_sharee) TRY(policy::permit(opened.rights, Operation::erase));
    crdt::Doc& doc = document.doc();
    crdt::Doc past = TRY(fork_at(doc, to.at.heads, doc.peer()));
    if (!opened.writer(by).writes_read_only()) {
        const memory::BlockSchema& now = opened.header.block.schema;
        const auto breach =
            memory::read_only_breach(now, memory::MemoryReader(doc, now).value(), to.schema,
                                     memory::MemoryReader(past, to.schema).value());
        if (breach) return breached(*breach);
    }
    const crdt::Diff back = TRY(doc.history().diff(doc.frontiers(), to.at.heads));
    document.begin(by);
    RecordState before = record_state(document);
    TRY(crdt::apply_diff(doc, back));
    const std::string version_id = cat(to.at.version);
    const crdt::IdSpan span = document.commit({by, "rollback", version_id});
    opened.header.block.schema = std::move(to.schema);
    put_header(document, opened.header);
    record_change(document, by, cat("rollback ", version_id), std::move(before),
                  span.size() > 0 ? std::vector{span} : std::vector<crdt::IdSpan>());
    follow_record(document, catalog);
    return version_of_memory(document);
}

Result<MemoryVersion> roll_back(LiveDocument& document, OpenedMemory& opened,
                                const policy::Actor& by, const std::string& version_id,
                                const MemoryCalls::Body& body) {
    TRY(policy::permit(opened.rights, Operation::overwrite));
    crdt::Doc& doc = document.doc();
    const BlockAt at = TRY(block_at(document, document.whole(), version_id));
    memory::BlockSchema schema = TRY(schema_at(document, opened.header, at));
    if (schema != opened.header.block.schema) {
        TRY(body.fed.check_owned(opened.header, by, "roll back the schema of"));
        return roll_back_schema(document, opened, by, {at, std::move(schema)},
                                body.kernel->catalog());
    }
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

// A write that is older than a conversion that stands lies in containers that the block shows no
// more.
Result<void> check_no_conversion_since(const BlockRef& block, const Unit& unit) {
    for (const Unit& each : block.state->history.units()) {
        const bool stands = each.version > unit.version && each.state == UnitState::done &&
                            each.record && !each.spans.empty();
        if (!stands) continue;
        return fail(Errc::unsupported, "schema_changed",
                    cat("your last change is older than the block's conversion by ", each.actor,
                        " (version ", each.version,
                        "), which stands. Its undo comes first, or context rollback to version ",
                        unit.version),
                    {{"version_id", cat(each.version)}});
    }
    return {};
}

// The entries of the history that a call takes back or, as a redo, brings back: all of one kind.
struct Steps {
    const std::vector<Unit*>& units;
    bool redo = false;
};

// Takes back writes to the content. Reverting runs before it is known how much of it others have
// overwritten; that is counted in the answer and is no error.
Result<MemoryUndone> take_content_back(LiveDocument& document, const OpenedMemory& opened,
                                       const policy::Actor& by, const Steps& steps,
                                       const MemoryCalls::Body& body) {
    const BlockRef block = document.whole();
    TRY(check_no_conversion_since(block, *steps.units.back()));
    const std::vector<crdt::IdSpan> spans = spans_of(steps.units);
    document.begin(by);
    const auto on_draft = [&](crdt::Doc& draft) -> Result<void> {
        TRY(crdt::revert(draft, spans));
        return {};
    };
    const SourceVerdict verdict = TRY(body.fed.judge(document, opened.header, by, on_draft));
    const crdt::Undone done = TRY(crdt::revert(document.doc(), spans));
    end_take_back(document, block, by, {steps.units, steps.redo, done.skipped > 0, done.settled});
    return MemoryUndone{body.settle(document, opened, verdict), done.restored, done.removed,
                        done.skipped};
}

// Takes back a call that changed the block's record: all of it, or nothing where others changed the
// same since.
Result<MemoryUndone> take_record_back(LiveDocument& document, const OpenedMemory& opened,
                                      const policy::Actor& by, const Steps& steps,
                                      const MemoryCalls::Body& body) {
    const BlockRef block = document.whole();
    const Unit& unit = *steps.units.front();
    std::optional<RecordState> wanted = TRY(record_set_back(document, *unit.record, steps.redo));
    const bool changed =
        !wanted || (!unit.spans.empty() && others_wrote_since(block, by, unit.version));
    if (changed) {
        document.begin(by);
        end_take_back(document, block, by, {steps.units, steps.redo, true, {}});
        return MemoryUndone{version_of_memory(document), 0, 0, 1};
    }
    if (wanted->deleted != document.record().deleted)
        TRY(policy::permit(opened.rights, Operation::erase));
    TRY(body.fed.check_owned(opened.header, by, "undo a change of"));
    Catalog& catalog = body.kernel->catalog();
    const Name name = name_of_memory(document, wanted->name);
    if (!wanted->deleted && !catalog.claim_name(name, document.key()))
        return label_exists(wanted->name);
    RecordChange change{record_state(document), *wanted};
    document.begin(by);
    const crdt::Undone done = TRY(crdt::revert(document.doc(), spans_of(steps.units)));
    document.transaction().set_record(std::move(*wanted));
    end_take_back(document, block, by,
                  {steps.units, steps.redo, done.skipped > 0, done.settled, std::move(change)});
    follow_record(document, catalog);
    return MemoryUndone{version_of_memory(document), done.restored + 1, done.removed, done.skipped};
}

}  // namespace

Result<ShownMemory> shown_memory(LiveDocument& document, const BlockAt* at) {
    const store::DocumentRecord& record = document.record();
    const MemoryHeader header = TRY(decode_memory_header(record.name, record.header));
    ShownMemory out;
    out.text = at != nullptr ? TRY(plain_text_at(document, header, *at))
                             : memory::plain_text({document.doc(), header.block.schema});
    out.metadata = {{"label", record.name},
                    {"owner", record.owner},
                    {"type", name_of(header.type)},
                    {"permission", name_of(header.block.permission)},
                    {"description", header.block.description},
                    {"pinned", header.pinned}};
    return out;
}

void MemoryCalls::undo(Caller by, std::string label, bool redo, Reply<MemoryUndone> reply) {
    // A swap concerns two blocks, so it cannot be taken back while this one is held.
    const auto partner =
        std::make_shared<std::pair<std::shared_ptr<LiveDocument>, store::DocumentKey>>();
    Reply<MemoryUndone> then = [body = body_, by, partner, redo,
                                reply = std::move(reply)](Result<MemoryUndone> undone) mutable {
        if (!undone || partner->first == nullptr) return reply(std::move(undone));
        body->take_swap_back(std::move(by), std::move(partner->first), partner->second, redo,
                             std::move(reply));
    };
    body_->run_on_past<MemoryUndone>(
        std::move(by), label, MemoryAddress::Among::moved, std::move(then),
        [body = body_, redo, partner](LiveDocument& document, const OpenedMemory& opened,
                                      const Caller& caller) -> Result<MemoryUndone> {
            Result<void> permitted = policy::permit(opened.rights, Operation::overwrite);
            const bool asks = !permitted && Oversight::is_unasked(permitted.error());
            if (!permitted && !asks) return Failure(std::move(permitted).error());
            const std::vector<Unit*> units = TRY(next_to_take_back(
                document.whole().state->history, caller.actor.str(), UndoScope::own, redo));
            TRY(std::move(permitted));
            const Unit& unit = *units.front();
            if (unit.record && unit.record->partner != 0) {
                *partner = {document.shared_from_this(), unit.record->partner};
                return MemoryUndone{};
            }
            if (unit.record)
                return take_record_back(document, opened, caller.actor, {units, redo}, *body);
            if (document.record().deleted) return no_such_memory(document.name());
            return take_content_back(document, opened, caller.actor, {units, redo}, *body);
        });
}

void MemoryCalls::history(Caller by, std::string label, std::size_t limit, std::string cursor,
                          Reply<MemoryHistory> reply) {
    body_->look<MemoryHistory>(
        std::move(by), label, std::move(reply),
        [limit, cursor = std::move(cursor)](LiveDocument& document, const OpenedMemory&,
                                            const Caller&) -> Result<MemoryHistory> {
            HistoryPage page = TRY(history_of(document.whole(), limit, cursor));
            return MemoryHistory{version_of_memory(document), std::move(page)};
        });
}

void MemoryCalls::diff(Caller by, std::string label, std::optional<std::string> from,
                       std::optional<std::string> to, Reply<MemoryDiff> reply) {
    body_->look<MemoryDiff>(std::move(by), label, std::move(reply),
                            [from = std::move(from), to = std::move(to)](
                                LiveDocument& document, const OpenedMemory& opened, const Caller&) {
                                return difference(document, opened.header, from, to);
                            });
}

void MemoryCalls::blame(Caller by, std::string label, Reply<Blame> reply) {
    body_->look<Blame>(std::move(by), label, std::move(reply),
                       [](LiveDocument& document, const OpenedMemory& opened, const Caller&) {
                           return blame_by_versions(
                               document, document.whole(), [&](const BlockAt& at) {
                                   return plain_text_at(document, opened.header, at);
                               });
                       });
}

void MemoryCalls::rollback(Caller by, std::string label, std::string version_id,
                           Reply<MemoryVersion> reply) {
    body_->run<MemoryVersion>(
        std::move(by), label, std::move(reply),
        [body = body_, version_id = std::move(version_id)](
            LiveDocument& document, OpenedMemory& opened, const Caller& caller) {
            return roll_back(document, opened, caller.actor, version_id, *body);
        });
}

}  // namespace quire::kernel
