// A shallow document is made as a history is read: the state at its start becomes the base of a new
// log, and the history goes in behind it by the ordinary import. The start of a history that is to
// be trimmed is found in the causal graph, in one walk down its runs.
#include "crdt/doc/shallow.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/body.h"
#include "crdt/doc/comparison.h"
#include "crdt/doc/events.h"
#include "crdt/doc/history.h"
#include "crdt/doc/limits.h"
#include "crdt/history/pending.h"

namespace quire::crdt {

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

Result<Frontiers> start_for(const Doc& doc, const Frontiers& version) {
    TRY(doc.history().load());
    DocBody& body = whole_of(doc);
    const Journal& journal = body.journal();
    const OpLog& log = journal.log();
    const Heads at = TRY(journal.heads_of(version));
    std::optional<Lv> cut = at.empty() ? std::nullopt : last_cut(log, at.front());
    while (cut && log.begins_style(*cut)) {
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
