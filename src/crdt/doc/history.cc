// Questions about versions are answered by the causal graph, whose runs are few: O(runs) for what lies
// between two versions, O(changes) for a walk to the ancestors. A history that an opening left out is
// read at most once. It is imported into a body of its own, with the edits made here in the
// meantime behind it, and that body takes the place of the one that began with the state.
#include "crdt/doc/history.h"

#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/comparison.h"
#include "crdt/doc/opening.h"
#include "crdt/doc/shallow.h"
#include "crdt/history/pending.h"

namespace quire::crdt {

namespace {

// Local numbers as ids, sorted by peer. A peer's atoms may lie in many stretches of the log, with
// others' between them; where their counters go on they become one span.
std::vector<IdSpan> ids_of(const AtomTable& atoms, const std::vector<LvSpan>& spans) {
    std::vector<IdSpan> ids;
    for (const LvSpan& span : spans) {
        for (Lv lv = span.begin; lv < span.end;) {
            const Lv stop = std::min(span.end, atoms.run_end(lv));
            const OpId first = atoms.id_of(lv);
            const auto end = first.counter + static_cast<Counter>(stop - lv);
            ids.push_back({first.peer, first.counter, end});
            lv = stop;
        }
    }
    std::sort(ids.begin(), ids.end());
    std::vector<IdSpan> joined;
    for (const IdSpan& span : ids) {
        if (!joined.empty() && joined.back().peer == span.peer && joined.back().end == span.begin) {
            joined.back().end = span.end;
        } else {
            joined.push_back(span);
        }
    }
    return joined;
}

Result<void> tell_first_ops(const ShallowStart& start, Function<bool(const ChangeHeader&)>& take) {
    for (const Change& op : start.first_ops()) {
        if (!take({op.id, 1, op.deps, op.lamport, op.timestamp, op.message})) break;
    }
    return {};
}

Result<DocBody*> body_with_history(const Doc& doc) {
    TRY(doc.history().load());
    return &whole_of(doc);
}

}  // namespace

const VersionVector& History::version() const {
    return whole_of(*doc_).journal().version();
}
Frontiers History::frontiers() const {
    return whole_of(*doc_).journal().frontiers_of(whole_of(*doc_).oplog().heads());
}

std::size_t History::op_count() const {
    // The start's version counts the trimmed ops too, as if they were here.
    std::size_t ops = whole_of(*doc_).journal().op_count();
    if (const auto begin = start()) {
        const VersionVector trimmed = begin->trimmed();
        for (const auto& [peer, end] : trimmed.ends()) ops -= static_cast<std::size_t>(end);
    }
    return ops;
}

std::vector<IdSpan> History::waiting() const {
    return whole_of(*doc_).parked().spans();
}

std::shared_ptr<const ShallowStart> History::start() const {
    return is_loaded() ? whole_of(*doc_).start() : doc_->unread_->source->start();
}

bool History::is_loaded() const {
    return doc_->unread_ == nullptr || doc_->unread_->source == nullptr;
}

const UnreadHistory* History::unread() const {
    return is_loaded() ? nullptr : doc_->unread_.get();
}

// Builds the new body beside the old one, so that a damaged history leaves the document as it was.
// Handles stay valid, because both bodies have the same containers by the same numbers.
Result<void> History::load() const {
    if (is_loaded()) return {};
    if (doc_->body_->announcements().is_committing()) {
        return fail(Errc::conflict, "committing",
                    "the history cannot be read before the commit is made; nothing was changed");
    }
    const UnreadHistory& unread = *doc_->unread_;
    std::vector<Change> history = TRY(unread.source->read());
    auto body = TRY(doc_->body_->with_history(unread.source->start(), std::move(history),
                                              unread.end, unread.heads));
    doc_->unread_->source.reset();
    // The body before goes on telling its subscribers the event that they are at.
    doc_->unread_->began_as = std::exchange(doc_->body_, std::move(body));
    if (!doc_->body_->announcements().has_subscribers()) doc_->unread_.reset();
    return {};
}

Result<void> History::load(const VersionVector& known) const {
    if (is_loaded() || known.includes(doc_->unread_->end)) return {};
    return load();
}

// The last known atom of each peer stands for all the peer's atoms before it; heads that others
// imply are dropped. Atoms inside a base have no place in the graph, so a version that has nothing
// beyond the base is the base.
Frontiers History::heads_of(const VersionVector& version) const {
    CHECK(load());
    DocBody& body = whole_of(*doc_);
    const AtomTable& atoms = body.oplog().atoms();
    Heads last;
    for (const auto& [peer, end] : version.ends()) {
        const std::optional<PeerIndex> index = atoms.find(peer);
        const Counter known = index ? std::min(end, atoms.end_of(*index)) : 0;
        if (known > 0 && known > atoms.base_end_of(*index))
            last.push_back(*atoms.lv_of(*index, known - 1));
    }
    if (last.empty()) last = body.oplog().base_heads();
    return body.journal().frontiers_of(body.oplog().graph().minimal(std::move(last)));
}

Result<VersionVector> History::version_of(const Frontiers& version) const {
    DocBody& body = *TRY(body_with_history(*doc_));
    return body.journal().version_of(body.journal().past_of(TRY(body.journal().heads_of(version))));
}

Result<Frontiers> History::minimal(const Frontiers& version) const {
    DocBody& body = *TRY(body_with_history(*doc_));
    return body.journal().frontiers_of(TRY(body.journal().heads_of(version)));
}

Result<History::Between> History::spans_between(const Frontiers& from, const Frontiers& to) const {
    DocBody& body = *TRY(body_with_history(*doc_));
    const Heads a = TRY(body.journal().heads_of(from));
    const Heads b = TRY(body.journal().heads_of(to));
    Difference difference;
    body.oplog().graph().diff(a, b, difference);
    const AtomTable& atoms = body.oplog().atoms();
    return Between{ids_of(atoms, difference.only_a), ids_of(atoms, difference.only_b)};
}

Result<void> History::travel_ancestors(const Frontiers& version,
                                       Function<bool(const ChangeHeader&)> take) const {
    DocBody& body = *TRY(body_with_history(*doc_));
    const OpLog& log = body.oplog();
    const AtomTable& atoms = log.atoms();
    // Changes by number; one is taken once all that follow it are.
    std::vector<std::size_t> queue;
    const auto push = [&](Lv lv) {
        queue.push_back(log.change_of(lv));
        std::push_heap(queue.begin(), queue.end());
    };
    for (const Lv head : TRY(body.journal().heads_of(version))) push(head);
    while (!queue.empty()) {
        const std::size_t index = queue.front();
        // A change is in the queue once for each change that follows it.
        while (!queue.empty() && queue.front() == index) {
            std::pop_heap(queue.begin(), queue.end());
            queue.pop_back();
        }
        if (log.base() > 0 && index == 0) return tell_first_ops(*body.start(), take);
        const ChangeInfo& info = log.changes()[index];
        // The pending transaction begins where the last change ends, and is no part of it yet.
        const Lv end = std::min(log.change_end(index), body.journal().committed_end());
        ChangeHeader header{atoms.id_of(info.lv),
                            static_cast<Counter>(end - info.lv),
                            {},
                            log.graph().lamport(info.lv),
                            info.timestamp,
                            log.message_of(info)};
        for (const Lv dep : log.deps_of(info)) header.deps.push_back(atoms.id_of(dep));
        if (!take(header)) return {};
        for (const Lv parent : log.graph().parents_of(info.lv)) push(parent);
    }
    return {};
}

Result<Diff> History::diff(const Frontiers& from, const Frontiers& to) const {
    DocBody& body = *TRY(body_with_history(*doc_));
    const Past a = body.journal().past_of(TRY(body.journal().heads_of(from)));
    const Past b = body.journal().past_of(TRY(body.journal().heads_of(to)));
    return Comparison(body, a, b).diff();
}

}  // namespace quire::crdt
