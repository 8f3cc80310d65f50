// Import: others' changes, in any order and cut anywhere, all of what can be applied or nothing.
//
// A change whose dependencies are missing waits in a heap of the peer that it waits for, and goes on
// as soon as that peer's atoms are in; what still waits at the end is parked in the document. So
// each change is looked at once for each dependency that it lacked: O(changes + deps · log changes),
// whatever their order. import_run.h applies the ops and takes them back if a change is unsound.
#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/body.h"
#include "crdt/doc/comparison.h"
#include "crdt/doc/events.h"
#include "crdt/doc/export.h"
#include "crdt/doc/import_run.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/validate.h"
#include "crdt/history/pending.h"

namespace quire::crdt {

namespace {

std::string id_text(OpId id) {
    return cat(id.counter, "@", id.peer);
}

// Changes [begin, end) of the batch.
struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool is_run = false;  // They are one peer's and follow each other without a gap.
    std::size_t known_deps =
        0;  // The number of deps of the first one that are known, from the front.
};

// How often an import is tried again because a change that waited was unsound.
constexpr int kMostCulprits = 8;

}  // namespace

// One attempt at an import: changes are applied as soon as what they depend on is there, in the
// order in which they came. A writer keeps side by side what belongs together, and so the sequences
// walk least.
class ImportBatch {
public:
    // Changes that waited for something of the batch go on with it if `goes_on`, and are dropped
    // otherwise.
    ImportBatch(DocBody& body, ChangeBatch& batch, bool says_less, bool goes_on)
        : body_(body),
          batch_(batch),
          given_(batch.heads.size()),
          says_less_(says_less),
          goes_on_(goes_on),
          run_(body, batch),
          queue_{{0, given_}} {}
    ImportBatch(const ImportBatch&) = delete;
    ImportBatch& operator=(const ImportBatch&) = delete;
    // The batch holds again what was given.
    ~ImportBatch() { batch_.heads.resize(given_); }

    // Applies what can be applied; on an error everything is taken back, and culprit() caused it.
    Result<void> go();
    // A change that has waited since an earlier import; null for one of this import.
    const Pending::Parked* culprit() const { return owner_of(culprit_); }
    // After go(): what waits is parked, what was applied is told.
    Imported finish(const ImportOptions& options);

private:
    // Changes that wait for an atom of the peer by whose number they stand.
    struct Waiting {
        Counter wants;
        Stretch changes;
        // Orders heaps whose top wants the least.
        bool operator<(const Waiting& other) const { return wants > other.wants; }
    };

    Result<void> take_next();
    Result<void> check_waiting();
    bool has_to_wait(PeerIndex peer, Counter known);
    bool only_goes_on(std::size_t change) const;
    // The first atom of the peer that something waits for.
    Counter next_awaited(PeerIndex peer) const {
        const bool none = peer >= waiting_.size() || waiting_[peer].empty();
        return none ? std::numeric_limits<Counter>::max() : waiting_[peer].front().wants;
    }
    Result<void> check_start(const ChangeBatch::Head& head);
    Result<void> check_overlap(const ChangeBatch::Head& head, Counter end);
    bool follows_the_same(const ChangeBatch::Head& head, std::span<const LvSpan> known);
    void succeed(std::uint32_t peer, const IdSpan& span);
    void release(PeerIndex peer, const IdSpan& known);
    void take_back();
    void park(OpId wants, std::size_t change, Imported& imported);
    // Puts a change behind those that were given.
    std::size_t add(const Change& change);
    // Returns null for what came with this import.
    const Pending::Parked* owner_of(std::size_t change) const {
        const auto at = owners_.find(change);
        return at == owners_.end() ? nullptr : &released_[at->second];
    }

    DocBody& body_;
    ChangeBatch& batch_;
    std::size_t given_;
    bool says_less_;
    bool goes_on_;
    ImportRun run_;
    std::vector<Pending::Parked> released_;                // Not in the document's pending_ now.
    std::unordered_map<std::size_t, std::size_t> owners_;  // The place in released_, by change.
    std::deque<Change> rests_;                             // The new parts of changes partly known.
    std::vector<Stretch> queue_;                           // The last one is next.
    std::vector<std::vector<Waiting>> waiting_;            // Heaps, by peer.
    std::size_t culprit_ = 0;
    std::vector<IdSpan> success_;
    // The place in success_ plus one, by the batch's number of the peer: a document may have many peers.
    std::vector<std::size_t> success_of_;
};

Result<void> ImportBatch::go() {
    while (!queue_.empty()) {
        if (queue_.back().begin == queue_.back().end) {
            queue_.pop_back();
            continue;
        }
        culprit_ = queue_.back().begin;
        Result<void> taken = take_next();
        if (!taken) {
            take_back();
            return taken;
        }
    }
    Result<void> same = check_waiting();
    if (!same) take_back();
    return same;
}

void ImportBatch::take_back() {
    run_.rewind();
    for (const Pending::Parked& parked : released_) body_.parked().park(parked);
}

// Checks the ops that another change made known while this one waited. A change that differs would
// be refused if it came now.
Result<void> ImportBatch::check_waiting() {
    for (const std::vector<Waiting>& all : waiting_) {
        for (const Waiting& waiting : all) {
            for (std::size_t i = waiting.changes.begin; i < waiting.changes.end; ++i) {
                const ChangeBatch::Head& head = batch_.heads[i];
                const Counter known = body_.oplog().atoms().end_of(run_.peer(head.peer));
                if (head.counter >= known) break;
                culprit_ = i;
                TRY(check_overlap(head, std::min(known, head.end())));
            }
        }
    }
    return {};
}

Result<void> ImportBatch::take_next() {
    const ChangeBatch::Head head = batch_.heads[culprit_];
    const PeerIndex peer = run_.peer(head.peer);
    const Counter known = body_.oplog().atoms().end_of(peer);
    if (head.counter < known) TRY(check_overlap(head, std::min(known, head.end())));
    if (head.end() > known && has_to_wait(peer, known)) return {};
    Stretch& queue = queue_.back();
    const std::size_t first = queue.begin++;
    queue.known_deps = 0;
    if (head.end() <= known) return {};
    TRY(check_start(head));
    IdSpan span{batch_.peers[head.peer], known, head.end()};
    if (head.counter == known) {
        // A peer that waits for one of them is next, so that the sequences walk least.
        const Counter awaited = next_awaited(peer);
        while (queue.begin < queue.end && span.end <= awaited && only_goes_on(queue.begin))
            span.end = batch_.heads[queue.begin++].end();
        TRY(run_.apply(std::span(batch_.heads).subspan(first, queue.begin - first)));
    } else {
        rests_.push_back(slice(batch_.change(head), known - head.counter, head.atoms));
        TRY(run_.apply({&batch_.heads[add(rests_.back())], 1}));
    }
    succeed(head.peer, span);
    release(peer, span);
    return {};
}

// Returns true if a change follows the one before it in the batch, and nothing else.
bool ImportBatch::only_goes_on(std::size_t change) const {
    const ChangeBatch::Head& head = batch_.heads[change];
    const ChangeBatch::Head& before = batch_.heads[change - 1];
    if (head.peer != before.peer || head.counter != before.end() || head.dep_count != 1)
        return false;
    const ChangeBatch::Dep dep = batch_.deps_of(head).front();
    return dep.peer == head.peer && dep.counter == head.counter - 1;
}

// Returns true if the next change lacks something. It then waits, and those that follow it with it.
bool ImportBatch::has_to_wait(PeerIndex peer, Counter known) {
    const AtomTable& atoms = body_.oplog().atoms();
    Stretch& next = queue_.back();
    const ChangeBatch::Head& head = batch_.heads[next.begin];
    PeerIndex lacks = peer;
    Counter wants = head.counter - 1;
    if (head.counter <= known) {
        const auto deps = batch_.deps_of(head);
        std::size_t& known_deps = next.known_deps;
        while (known_deps < deps.size() &&
               deps[known_deps].counter < atoms.end_of(run_.peer(deps[known_deps].peer))) {
            ++known_deps;
        }
        if (known_deps == deps.size()) return false;
        lacks = run_.peer(deps[known_deps].peer);
        wants = deps[known_deps].counter;
    }
    Stretch waits{next.begin, next.end, true, next.known_deps};
    if (!next.is_run) {
        const auto& heads = batch_.heads;
        waits.end = waits.begin + 1;
        while (waits.end < next.end && heads[waits.end].peer == head.peer &&
               heads[waits.end].counter == heads[waits.end - 1].end()) {
            ++waits.end;
        }
    }
    next.begin = waits.end;
    next.known_deps = 0;
    if (lacks >= waiting_.size()) waiting_.resize(lacks + 1);
    waiting_[lacks].push_back({wants, waits});
    std::push_heap(waiting_[lacks].begin(), waiting_[lacks].end());
    return true;
}

// Checks that a change whose deps are known follows the whole base of a shallow document. Its
// positions are told in the version of its deps, and before the base there are none.
Result<void> ImportBatch::check_start(const ChangeBatch::Head& head) {
    const OpLog& log = body_.oplog();
    if (log.base() == 0) return {};
    const AtomTable& atoms = log.atoms();
    Heads heads;
    bool follows = false;
    // Returns false if the atom lies in the base and is not one of its heads.
    const auto add = [&](PeerIndex peer, Counter counter) {
        if (counter >= atoms.base_end_of(peer)) return follows = true;
        const std::optional<Lv> lv = log.version_atom(peer, counter);
        if (lv) heads.push_back(*lv);
        return lv.has_value();
    };
    bool is_late = true;
    const PeerIndex peer = run_.peer(head.peer);
    const Counter begin = atoms.base_end_of(peer);
    if (head.counter < begin) {
        is_late = add(peer, begin - 1);  // The part after the base goes on from there.
    } else {
        for (const ChangeBatch::Dep& dep : batch_.deps_of(head))
            is_late = add(run_.peer(dep.peer), dep.counter) && is_late;
        if (head.counter > 0) add(peer, head.counter - 1);
    }
    if (is_late && (follows || log.graph().minimal(std::move(heads)) == log.base_heads()))
        return {};
    return before_start(cat("what ", id_text(batch_.id_of(head)), " depends on"));
}

Result<void> ImportBatch::check_overlap(const ChangeBatch::Head& head, Counter end) {
    const OpId id = batch_.id_of(head);
    const Counter begin = body_.oplog().atoms().base_end_of(run_.peer(head.peer));
    if (end <= begin) return {};  // Nothing is known of the atoms of a base.
    std::vector<LvSpan> known = body_.oplog().atoms().spans_of({id.peer, id.counter, end});
    bool same = follows_the_same(head, known);
    Counter from = std::max(0, begin - id.counter);
    if (same && says_less_) {
        // Only what came with this import says as little.
        for (LvSpan& span : known) {
            const Lv fresh = std::clamp(run_.span().begin, span.begin, span.end);
            from += static_cast<Counter>(fresh - span.begin);
            span.begin = fresh;
        }
        std::erase_if(known, [](const LvSpan& span) { return span.size() == 0; });
    }
    if (same && !known.empty()) {
        const std::vector<Op> theirs = slice(batch_.change(head), from, end - id.counter).ops;
        same = same_atoms(theirs, export_ops(body_, known));
    }
    if (same) return {};
    return fail(Errc::conflict, "op_id_reused",
                cat("operations from ", id_text(id),
                    " on are known here with other content, or after others: two writers have used "
                    "one peer id; nothing was imported"));
}

// Returns true if the atoms of `known`, a change's first ones, have the parents here that the
// change gives them.
bool ImportBatch::follows_the_same(const ChangeBatch::Head& head, std::span<const LvSpan> known) {
    const OpLog& log = body_.oplog();
    const Graph& graph = log.graph();
    const PeerIndex peer = run_.peer(head.peer);
    const Counter base = log.atoms().base_end_of(peer);
    const Counter begin = std::max(head.counter, base);
    Heads parents;
    if (head.counter >= base) {
        for (const ChangeBatch::Dep& dep : batch_.deps_of(head)) {
            const std::optional<Lv> lv = log.version_atom(run_.peer(dep.peer), dep.counter);
            if (!lv) return false;
            parents.push_back(*lv);
        }
    }
    if (begin > 0) {
        // An atom of the base that is not one of its heads is in what the change depends on anyway.
        const std::optional<Lv> before = log.version_atom(peer, begin - 1);
        if (before) parents.push_back(*before);
    }
    parents = graph.minimal(std::move(parents));
    for (const LvSpan& span : known) {
        for (Lv lv = span.begin; lv < span.end;) {
            if (graph.parents_of(lv) != parents) return false;
            lv = std::min(span.end, graph.run_end(lv));
            parents.assign(1, lv - 1);
        }
    }
    return true;
}

void ImportBatch::succeed(std::uint32_t peer, const IdSpan& span) {
    if (peer >= success_of_.size()) success_of_.resize(batch_.peers.size(), 0);
    if (success_of_[peer] > 0) {
        success_[success_of_[peer] - 1].end = span.end;
        return;
    }
    success_.push_back(span);
    success_of_[peer] = success_.size();
}

// Puts the changes that waited for an atom of `known` next.
void ImportBatch::release(PeerIndex peer, const IdSpan& known) {
    if (peer < waiting_.size()) {
        std::vector<Waiting>& waiting = waiting_[peer];
        while (!waiting.empty() && waiting.front().wants < known.end) {
            queue_.push_back(waiting.front().changes);
            std::pop_heap(waiting.begin(), waiting.end());
            waiting.pop_back();
        }
    }
    if (body_.parked().empty()) return;
    for (Pending::Parked& parked : body_.parked().release(known)) {
        released_.push_back(std::move(parked));
        if (!goes_on_) continue;
        const std::size_t change = add(*released_.back().change);
        owners_.emplace(change, released_.size() - 1);
        queue_.push_back({change, change + 1});
    }
}

std::size_t ImportBatch::add(const Change& change) {
    batch_.append(change);
    return batch_.heads.size() - 1;
}

void ImportBatch::park(OpId wants, std::size_t change, Imported& imported) {
    if (const Pending::Parked* owner = owner_of(change))
        return body_.parked().park({wants, owner->change});
    // It came with this import, and is told of once.
    const ChangeBatch::Head& head = batch_.heads[change];
    imported.pending.push_back({batch_.peers[head.peer], head.counter, head.end()});
    body_.parked().park({wants, std::make_shared<const Change>(batch_.change(head))});
}

Imported ImportBatch::finish(const ImportOptions& options) {
    run_.finish();
    Imported imported{std::move(success_), {}, {}};
    for (PeerIndex peer = 0; peer < waiting_.size(); ++peer) {
        for (const auto& [wants, changes] : waiting_[peer]) {
            OpId missing{body_.oplog().atoms().peer(peer), wants};
            for (std::size_t i = changes.begin; i < changes.end; ++i) {
                park(missing, i, imported);
                missing = {batch_.peers[batch_.heads[i].peer], batch_.heads[i].end() - 1};
            }
        }
    }
    std::sort(imported.pending.begin(), imported.pending.end());
    const bool wants_event = body_.at() == nullptr && body_.announcements().wants_events();
    if (run_.span().size() == 0 || !(options.want_diff || wants_event)) return imported;
    const LvSpan span = run_.span();
    const Heads before = run_.heads_before();
    imported.diff = diff_of(body_, span, before);
    if (wants_event) {
        body_.announcements().tell(body_, {Event::By::import,
                                           options.origin,
                                           {},
                                           body_.journal().frontiers_of(before),
                                           body_.journal().frontiers_of(body_.oplog().heads()),
                                           imported.diff});
    }
    return imported;
}

Result<Imported> DocBody::import(ChangeBatch& batch, ImportOptions options) {
    CHECK(!journal_.in_transaction());
    TRY(validate(batch));
    const bool news = std::any_of(batch.heads.begin(), batch.heads.end(), [&](const auto& head) {
        return head.end() > oplog().atoms().end_of(batch.peers[head.peer]);
    });
    if (!news) return Imported{};
    journal_.begin_import();
    oplog().expect(batch.heads.size());
    // An unsound change that waited must not keep out sound ones, nor have them tried again and
    // again. Its sound neighbours are dropped with it; they are not known here, so their sender
    // will be asked for them.
    for (int culprits = 0;; ++culprits) {
        ImportBatch attempt(*this, batch, options.says_less, culprits < kMostCulprits);
        Result<void> gone = attempt.go();
        if (gone) return attempt.finish(options);
        const Pending::Parked* culprit = attempt.culprit();
        if (culprit == nullptr) return Failure(std::move(gone).error());
        pending_->drop(*culprit);
    }
}

}  // namespace quire::crdt
