// A document is opened at a state (state_writer.cc), and reads its history once something needs that.
// Opening costs O(state), loading O(history).
#include "crdt/doc/opening.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/body.h"
#include "crdt/doc/comparison.h"
#include "crdt/doc/events.h"
#include "crdt/doc/export.h"
#include "crdt/doc/history.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/shallow.h"
#include "crdt/history/pending.h"

namespace quire::crdt {

namespace {

constexpr const char* kNeedsHistory = "needs_history";

}  // namespace

Failure needs_history(std::string_view what) {
    return fail(Errc::unsupported, kNeedsHistory,
                cat(what, " cannot be told from a state; read the history"));
}

// --- the document ---

std::unique_ptr<DocBody> DocBody::emptied() const {
    auto body = std::make_unique<DocBody>(journal_.peer_id());
    for (const Place& place : containers_) body->open(place.name);
    body->settings = settings;
    return body;
}

Result<std::unique_ptr<DocBody>> DocBody::with_history(std::shared_ptr<const ShallowStart> start,
                                                       ChangeBatch history,
                                                       const VersionVector& end,
                                                       const Frontiers& heads) {
    std::unique_ptr<DocBody> body = emptied();
    Journal& journal = body->journal();
    if (start != nullptr) TRY(body->begin_at(std::move(start)));
    const auto take = [&](ChangeBatch changes) -> Result<void> {
        const Imported imported = TRY(body->import(changes, {}));
        if (imported.pending.empty()) return {};
        return corrupt("the history depends on changes that it does not hold");
    };
    TRY(take(std::move(history)));
    if (journal.version() != end || journal.frontiers_of(journal.log().heads()) != heads)
        return corrupt("the history ends elsewhere than its version");
    const LvSpan committed{oplog().base(), journal_.committed_end()};
    if (committed.end > committed.begin) TRY(take(export_spans(*this, {committed})));
    if (journal_.in_transaction()) {
        const Lv begin = journal.log().end();
        TRY(take(export_spans(*this, {{journal_.began(), oplog().end()}})));
        journal.reopen();
        // The runs are as they were made, so that the transaction can lengthen them.
        for (ContainerIndex i = 0; i < body->container_count(); ++i)
            journal.log().logs()[i].forget_starts(begin);
    }
    body->announcements().share(announcements_);
    return body;
}

namespace {

// Ends the base: everything that the state holds is in the log. Errors: corrupt; unsupported.
Result<void> end_base(Journal& journal, const OpeningVersion& version) {
    std::vector<OpLog::Placed> heads;
    Lamport latest = 0;
    for (const StampedAtom& head : version.heads) {
        if (head.id.counter + 1 != version.end.end_of(head.id.peer))
            return corrupt("a version has a head that is not the last of its peer");
        heads.push_back({head.id.peer, head.id.counter, head.lamport, 1});
    }
    for (const OpLog::Placed& head : heads) latest = std::max(latest, head.lamport);
    if (journal.log().base_lamport() > latest) return needs_history("when an atom was made");
    if (heads.empty() || !journal.end_base(version.end, heads, version.timestamp))
        return needs_history("which of two atoms with one name is the one");
    return {};
}

}  // namespace

Result<void> DocBody::begin_at(std::shared_ptr<const ShallowStart> start) {
    StateWriter writer(*this);
    const auto write = [&]() -> Result<void> {
        TRY(start->write(writer));
        writer.end();
        return end_base(journal_, start->version());
    };
    Result<void> written = write();
    // There is no history to ask.
    if (!written && written.error().reason() == kNeedsHistory)
        return corrupt(cat("at the start of a shallow history ", written.error().message()));
    TRY(std::move(written));
    start_ = std::move(start);
    return {};
}

bool is_blank(const Doc& doc) {
    return doc.history().op_count() == 0 && doc.pending().empty() && !doc.is_detached() &&
           doc.body_->is_unfollowed();
}

Result<void> open_at(Doc& doc, const OpeningVersion& version, std::unique_ptr<HistorySource> source,
                     Function<Result<void>(StateWriter&)> write) {
    CHECK(is_blank(doc));
    std::unique_ptr<DocBody> body = doc.body_->emptied();
    StateWriter writer(*body);
    TRY(write(writer));
    writer.end();
    TRY(end_base(body->journal(), version));
    body->announcements().share(doc.body_->announcements());
    doc.body_ = std::move(body);
    doc.unread_ = std::make_unique<UnreadHistory>(
        UnreadHistory{std::move(source),
                      version.end,
                      doc.body_->journal().frontiers_of(doc.body_->oplog().heads()),
                      {}});
    return {};
}

// --- shallow documents (shallow.h) ---

// A shallow document is made as a history is read: the state at its start becomes the base of a new
// log, and the history goes in behind it by the ordinary import. The start of a history that is to
// be trimmed is found in the causal graph, in one walk down its runs.

Frontiers ShallowStart::frontiers() const {
    Frontiers heads;
    for (const StampedAtom& head : version_.heads) heads.push_back(head.id);
    std::sort(heads.begin(), heads.end());
    return heads;
}

VersionVector ShallowStart::trimmed() const {
    VersionVector before = version_.end;
    for (const Change& op : first_ops_) before.set(op.id.peer, op.id.counter);
    return before;
}

bool is_empty(const Doc& doc) {
    return doc.history().op_count() == 0 && doc.pending().empty() && !doc.is_detached();
}

namespace {

// Tells subscribers of everything that the document shows.
void tell_opened(DocBody& body) {
    if (!body.announcements().wants_events()) return;
    Journal& journal = body.journal();
    const Past nothing;
    const Past all = journal.past_of(journal.log().heads());
    body.announcements().tell(body, {Event::By::import,
                                     {},
                                     {},
                                     {},
                                     journal.frontiers_of(all.heads()),
                                     Comparison(body, nothing, all).diff()});
}

// The lowest atom that a change names as what it follows, its own peer's last one included; none if
// it follows nothing, or an atom of a base that was trimmed.
std::optional<Lv> lowest_parent(const OpLog& log, const ChangeInfo& change) {
    std::optional<Lv> lowest;
    for (const Lv dep : log.deps_of(change)) lowest = std::min(dep, lowest.value_or(dep));
    const OpId first = log.atoms().id_of(change.lv);
    if (first.counter == 0) return lowest;
    const std::optional<Lv> before =
        log.version_atom(*log.atoms().find(first.peer), first.counter - 1);
    if (!before) return std::nullopt;
    return std::min(*before, lowest.value_or(*before));
}

// The highest atom up to `limit`, and after the base, that follows all atoms before it, and before
// which no later change names anything as what it follows. Loro cuts there: an earlier writer who
// goes on after a version makes it none, even if nothing is concurrent with it.
std::optional<Lv> last_cut(const OpLog& log, Lv limit) {
    const std::vector<ChangeInfo>& changes = log.changes();
    for (std::size_t i = changes.size(); i-- > 0;) {
        if (changes[i].lv < log.base()) break;
        if (changes[i].lv <= limit) {
            const Lv cut = std::min(limit, log.change_end(i) - 1);
            if (log.graph().follows_all(cut)) return cut;
        }
        const std::optional<Lv> parent = lowest_parent(log, changes[i]);
        if (!parent) break;
        limit = std::min(limit, *parent);
    }
    return std::nullopt;
}

// Imports again what waited for others in an empty document. What does not follow the start is
// dropped, as an unsound change that waited is.
void import_parked(DocBody& body, const std::vector<std::shared_ptr<const Change>>& parked) {
    for (const auto& change : parked) {
        ChangeBatch batch;
        batch.append(*change);
        static_cast<void>(body.import(batch, {}));
    }
}

}  // namespace

Result<void> open_shallow(Doc& doc, std::shared_ptr<const ShallowStart> start, ChangeBatch history,
                          const HistoryEnd& end) {
    CHECK(is_empty(doc));
    DocBody& before = body_of(doc);
    std::unique_ptr<DocBody> body =
        TRY(before.with_history(std::move(start), std::move(history), end.version, end.heads));
    const auto parked = before.parked().changes();
    if (before.is_followed()) body->follow_numbers();
    // The body before may be telling its subscribers an event.
    doc.unread_ = std::make_unique<UnreadHistory>(
        UnreadHistory{{}, {}, {}, std::exchange(doc.body_, std::move(body))});
    if (!doc.body_->announcements().has_subscribers()) doc.unread_.reset();
    tell_opened(*doc.body_);
    import_parked(*doc.body_, parked);
    return {};
}

Result<void> check_retained(const Doc& doc, std::span<const IdSpan> spans) {
    const auto start = doc.history().start();
    if (start == nullptr) return {};
    const VersionVector trimmed = start->trimmed();
    for (const IdSpan& span : spans) {
        if (span.size() > 0 && span.begin < trimmed.end_of(span.peer))
            return before_start(cat("the operation ", span.begin, "@", span.peer));
    }
    return {};
}

namespace {

// Returns true if the atom begins a style whose end is the next atom.
bool begins_style(const OpLog& oplog, Lv lv) {
    const ContainerLog& log = oplog.logs()[oplog.container_of(lv)];
    const Run& run = log.runs()[log.find(lv)];
    return run.kind == RunKind::anchor && std::holds_alternative<StyleStart>(log.op(run));
}

// Returns true if a tree has by `last` moved or erased a node that no op of it had made by then, or put one below such a
// node. A state cannot tell such a node from one that was made, and its name may be that of any atom; what stands below
// it is not shown, but a later move can show it.
bool places_foreign_nodes(const DocBody& body, Lv last) {
    const Lv base = body.oplog().base();
    const auto has_foreign = [&](const ContainerLog& log) {
        std::unordered_set<OpId> made;
        const auto is_made = [&](const std::optional<OpId>& parent) {
            return !parent || made.contains(*parent);
        };
        for (const Run& run : log.runs()) {
            if (run.lv > last) break;
            if (run.kind != RunKind::other) continue;
            const OpContent& op = log.op(run);
            const auto* create = std::get_if<TreeCreate>(&op);
            if (create != nullptr) made.insert(create->target);
            if (run.lv < base) continue;  // Nodes of a base are all made, in any order.
            const auto* move = std::get_if<TreeMove>(&op);
            const auto* erase = std::get_if<TreeErase>(&op);
            if ((create != nullptr && !is_made(create->parent)) ||
                (move != nullptr && !(made.contains(move->target) && is_made(move->parent))) ||
                (erase != nullptr && !made.contains(erase->target))) {
                return true;
            }
        }
        return false;
    };
    for (ContainerIndex i = 0; i < body.container_count(); ++i) {
        if (body.name_of(i).kind == ContainerKind::tree && has_foreign(body.oplog().logs()[i]))
            return true;
    }
    return false;
}

}  // namespace

Result<Frontiers> start_for(const Doc& doc, const Frontiers& version) {
    TRY(doc.history().load());
    DocBody& body = whole_of(doc);
    const Journal& journal = body.journal();
    const OpLog& log = journal.log();
    const Heads at = TRY(journal.heads_of(version));
    std::optional<Lv> cut = at.empty() ? std::nullopt : last_cut(log, at.front());
    if (cut && places_foreign_nodes(body, *cut)) cut = std::nullopt;
    while (cut && begins_style(log, *cut)) {
        if (last_cut(log, *cut + 1) == *cut + 1) {
            ++*cut;
            break;
        }
        cut = *cut == 0 ? std::nullopt : last_cut(log, *cut - 1);
    }
    if (cut) return Frontiers{log.atoms().id_of(*cut)};
    return body.start() == nullptr ? Frontiers() : body.start()->frontiers();
}

}  // namespace quire::crdt
