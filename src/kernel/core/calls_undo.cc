// Undo and redo of the latest unit, or group of units, of one actor or of all. Text and status
// fields are undone by crdt::revert(), which writes new ops and leaves the later work of others
// alone; creation and deletion set the block's `deleted` flag. The undone unit then holds the
// spans that a redo has to revert, so undo and redo alternate without limit.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "conversation/conversation.h"
#include "crdt/doc/text.h"
#include "edits/view.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/core.h"
#include "kernel/core/take_back.h"
#include "kernel/core/versions.h"
#include "text/diff.h"

namespace quire::kernel {

namespace {

// Which of the block's containers a unit of this kind may touch.
std::vector<crdt::Handle> touched_by(const BlockRef& block, UnitKind kind) {
    switch (kind) {
        case UnitKind::content:
            return {block.content};
        case UnitKind::status:
            return {block.fields->fields};
        case UnitKind::create:
        case UnitKind::erase:
        case UnitKind::take_back:
        case UnitKind::record:
            return {};
    }
    return {};
}

// Returns true if an actor other than the block's maker has a change in it that stands.
bool others_wrote(const BlockRef& block, const Unit& made) {
    const std::vector<Unit>& units = block.state->history.units();
    return std::any_of(units.begin(), units.end(), [&](const Unit& unit) {
        return unit.actor != made.actor && unit.state == UnitState::done &&
               (unit.kind == UnitKind::content || unit.kind == UnitKind::status);
    });
}

// Returns true for a tool_result whose tool_call has another one by now.
bool is_answered(LiveDocument& document, const conversation::ConversationBlock& block) {
    return block.kind() == name_of(conversation::Kind::tool_result) && block.parent &&
           document.conversation()->answer_to(*block.parent) != nullptr;
}

// The status as it was before `change`, or after it: unless it has become another since.
Undone set_back(LiveDocument& document, const BlockRef& block, const Unit::StatusChange& change,
                bool redo) {
    const conversation::Status now = redo ? change.from : change.to;
    if (block.fields->status() != name_of(now)) return {.skipped_because_changed = 1};
    document.conversation()->set_status(block.id, name_of(redo ? change.to : change.from));
    block.state->interrupted = false;
    return {.restored = 1};
}

// Takes the units back in the document's pending transaction, newest first.
Result<Undone> take_back(LiveDocument& document, const BlockRef& block,
                         const std::vector<Unit*>& units, bool redo,
                         std::vector<crdt::StandIn>& settled) {
    Undone undone;
    const UnitKind kind = units.front()->kind;
    if (kind == UnitKind::create || kind == UnitKind::erase) {
        // Undoing a creation hides the block, undoing a deletion shows it; a redo is the reverse.
        // Neither goes over the work of others: a block that they wrote in stays, and a tool_result
        // stays hidden if its call has got another one.
        const bool gone = (kind == UnitKind::create) != redo;
        if (block.fields->deleted == gone || (gone && others_wrote(block, *units.front())) ||
            (!gone && is_answered(document, *block.fields))) {
            undone.skipped_because_changed = 1;
            return undone;
        }
        document.conversation()->set_deleted(block.id, gone);
        (gone ? undone.removed : undone.restored) = 1;
        return undone;
    }
    if (kind == UnitKind::status && units.front()->status)
        return set_back(document, block, *units.front()->status, redo);
    const std::vector<crdt::Handle> only = touched_by(block, kind);
    crdt::Undone done = TRY(crdt::revert(document.doc(), spans_of(units), only));
    settled = std::move(done.settled);
    undone.restored = done.restored;
    undone.removed = done.removed;
    undone.skipped_because_changed = done.skipped;
    if (kind == UnitKind::status) document.conversation()->refresh(block.id);
    return undone;
}

}  // namespace

Failure nothing_to_take_back(const std::optional<std::string>& actor, bool redo) {
    return fail(Errc::not_found, redo ? "nothing_to_redo" : "nothing_to_undo",
                cat(actor ? cat(*actor, " has made no change to this block")
                          : std::string("there is no change to this block"),
                    redo ? " that was undone" : " that is still to be undone"));
}

Result<std::vector<Unit*>> next_to_take_back(History& history, const std::string& actor,
                                             UndoScope scope, bool redo) {
    const bool own = scope == UndoScope::own;
    const std::optional<std::string> whose = own ? std::optional(actor) : std::nullopt;
    std::vector<Unit*> units = redo ? history.next_redo(whose) : history.next_undo(whose);
    if (!units.empty()) return units;
    return nothing_to_take_back(whose, redo);
}

std::vector<crdt::IdSpan> spans_of(const std::vector<Unit*>& units) {
    std::vector<crdt::IdSpan> spans;
    for (const Unit* unit : units)
        spans.insert(spans.end(), unit->spans.begin(), unit->spans.end());
    return spans;
}

void end_take_back(LiveDocument& document, const BlockRef& block, const policy::Actor& actor,
                   const TakenBack& what) {
    const auto& [units, redo, skipped, settled, record] = what;
    const std::string description = units.back()->description;
    const crdt::IdSpan span = document.commit(actor, redo ? "redo" : "undo");
    Unit& last = *units.back();
    // Undo and redo alternate on one unit. `spans` is what the next of them reverts, `kept` what
    // the one after that adds to it when something was skipped this time. The next one takes back
    // what led here from there; the one after it, all of this and of that.
    std::vector<crdt::IdSpan> next = std::exchange(last.kept, {});
    std::vector<crdt::IdSpan> after;
    if (skipped || !next.empty()) {
        after = spans_of(units);
        after.push_back(span);
    }
    next.push_back(span);
    for (Unit* unit : units) unit->spans.clear();
    last.spans = std::move(next);
    last.kept = std::move(after);
    // Here, for there may be no entry of its own.
    last.stand_ins.insert(last.stand_ins.end(), settled.begin(), settled.end());
    for (Unit* unit : units) {
        block.state->history.set_state(*unit, redo ? UnitState::done : UnitState::undone);
        document.rerecord(block, *unit);
    }
    block.state->end_append_run(actor.str());
    if (span.size() == 0 && !record) return;
    Unit entry;
    entry.actor = actor.str();
    entry.description = cat(redo ? "redo of " : "undo of ", description);
    entry.kind = UnitKind::take_back;
    entry.stand_ins = crdt::stand_ins(document.doc(), span);
    if (record) entry.record = std::make_shared<const RecordChange>(*record);
    document.record_quietly(block, std::move(entry));
}

namespace {

// The answer, with the text before the undo.
Undone with_change(LiveDocument& document, const BlockRef& block, const seq::Rope& before,
                   Undone undone, const Limits& limits) {
    const seq::Rope& after = document.doc().text(block.content).rope();
    undone.version = block.state->version;
    undone.line_count = after.lines().n;
    undone.change = edits::change_between(before, after, limits.read_columns);
    return undone;
}

}  // namespace

Result<std::vector<std::uint64_t>> steps_to_take_back(History& history, const UndoWhich& which) {
    std::vector<std::uint64_t> steps;
    if (which.redo) {
        const std::vector<Unit*> units = history.next_redo(which.actor);
        if (!units.empty()) steps.push_back(units.back()->version);
    } else {
        steps = history.undoable(which);
    }
    if (!steps.empty()) return steps;
    if (which.version) {
        return fail(Errc::not_found, "nothing_to_undo",
                    cat("version ", *which.version,
                        " of this block is undone already, or no undo "
                        "takes it back"));
    }
    return nothing_to_take_back(which.actor, which.redo);
}

Result<Undone> Core::undo(LiveDocument& document, const BlockRef& block, const Caller& by,
                          const UndoWhich& which) {
    if (document.record().deleted) TRY(document.find(document.id_of(block), false));
    flush(document, block);
    const std::vector<std::uint64_t> steps = TRY(steps_to_take_back(block.state->history, which));
    TRY(by.check_approved([&]() -> std::string {
        const Result<std::string> after = text_after(document, block, steps);
        if (!after) return {};
        const std::string name = diff_name(document, block);
        return text::unified_diff(document.doc().text(block.content).rope().str(), *after,
                                  {.from = cat("a/", name), .to = cat("b/", name)});
    }));
    return take_back_steps(document, block, by.actor, steps, which.redo);
}

// Each step is a version of its own, so that each can be redone by itself.
Result<Undone> Core::take_back_steps(LiveDocument& document, const BlockRef& block,
                                     const policy::Actor& by,
                                     const std::vector<std::uint64_t>& steps, bool redo) {
    const seq::Rope before = document.doc().text(block.content).rope();
    Undone all;
    for (const std::uint64_t step : steps) {
        const std::vector<Unit*> units = block.state->history.with_group_of(step);
        document.begin(by);
        std::vector<crdt::StandIn> settled;
        const Undone one = TRY(take_back(document, block, units, redo, settled));
        end_take_back(document, block, by, {units, redo, one.skipped_because_changed > 0, settled});
        all.restored += one.restored;
        all.removed += one.removed;
        all.skipped_because_changed += one.skipped_because_changed;
    }
    return with_change(document, block, before, std::move(all), limits());
}

// The copy has to know what stands for what, as the document does.
Result<std::string> Core::text_after(LiveDocument& document, const BlockRef& block,
                                     const std::vector<std::uint64_t>& steps) {
    crdt::Doc& doc = document.doc();
    crdt::Doc draft = doc.fork(doc.peer());
    std::vector<crdt::StandIn> stand_ins;
    for (const Unit& unit : block.state->history.units())
        stand_ins.insert(stand_ins.end(), unit.stand_ins.begin(), unit.stand_ins.end());
    TRY(crdt::recall(draft, stand_ins));
    const crdt::Handle content = draft.open(doc.id_of(block.content));
    for (const std::uint64_t step : steps) {
        const std::vector<crdt::IdSpan> spans = spans_of(block.state->history.with_group_of(step));
        TRY(crdt::revert(draft, spans, {&content, 1}));
        draft.commit();
    }
    return draft.text(content).rope().str();
}

void Kernel::undo(Caller by, std::string block_id, UndoWhich which, Reply<Undone> reply) {
    core_->run_on_block<Undone>(
        std::move(by), {block_id, true}, Access::overwrite, std::move(reply),
        [core = core_, which = std::move(which)](LiveDocument& document, const BlockRef& block,
                                                 const Caller& caller) {
            return core->undo(document, block, caller, which);
        });
}

void Kernel::undoable(Caller by, std::string block_id, UndoWhich which,
                      Reply<std::vector<HistoryEntry>> reply) {
    core_->run_on_block<std::vector<HistoryEntry>>(
        std::move(by), {block_id, true}, Access::read, std::move(reply),
        [core = core_, which = std::move(which)](
            LiveDocument& document, const BlockRef& block,
            const Caller&) -> Result<std::vector<HistoryEntry>> {
            core->flush(document, block);
            History& history = block.state->history;
            std::vector<HistoryEntry> out;
            for (const std::uint64_t version : history.undoable(which)) {
                const Unit& unit = *history.with_group_of(version).back();
                out.push_back({cat(version), unit.at_ms, unit.actor, unit.description});
            }
            return out;
        });
}

}  // namespace quire::kernel
