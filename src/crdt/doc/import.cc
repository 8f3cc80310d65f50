// Import: others' changes, in any order and cut anywhere, all of what can be applied or nothing.
//
// Ops go into the log and into the sequences as they come; texts and maps follow only once
// everything has proved to be sound. A change that fails takes the log back to where it was, and
// drops the sequences it went into, to be built anew when they are next needed.
#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

#include "base/cat.h"
#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/validate.h"

namespace quire::crdt {

namespace {

constexpr std::uint32_t kMaxSize = 1'073'741'822;  // Loro's bound on positions.

std::string id_text(OpId id) {
    return cat(id.counter, "@", id.peer);
}

}  // namespace

class ImportRun {
public:
    explicit ImportRun(DocBody& body) : body_(body), log_(body.log_), mark_(log_.mark()) {}

    // Requires that the change's deps and predecessor are known, and that it is new.
    Result<void> apply(const Change& change);
    void rewind();
    void finish();
    LvSpan span() const { return {mark_.end, log_.end()}; }
    const Heads& heads_before() const { return mark_.heads; }

private:
    // What a container was before the import wrote to it.
    struct Before {
        ContainerLog::Mark log;
        std::uint32_t size;
        bool has_anchors;
        Heads heads;
        std::size_t effects;
        bool integrated = false;
    };

    Before& touch(Container& c);
    Result<void> apply_op(Container& c, const Op& op, const Heads& parents, bool linear);
    Result<void> apply_sequence_op(Container& c, const Op& op, const Heads& parents, bool linear);
    void leave_linear(Container& c);
    bool holds_all(Container& c, const Heads& parents) const;
    std::optional<Lv> element_of(const Container& c, ElementId id, const Heads& parents) const;
    std::optional<std::uint32_t> anchor_position(Container& c, const Op& op) const;

    DocBody& body_;
    OpLog& log_;
    OpLog::Mark mark_;
    std::unordered_map<ContainerIndex, Before> before_;
};

ImportRun::Before& ImportRun::touch(Container& c) {
    const auto at = before_.find(c.index);
    if (at != before_.end()) return at->second;
    return before_
        .emplace(c.index,
                 Before{log_.log(c.index).mark(), c.size, c.has_anchors, c.heads, c.effects.size()})
        .first->second;
}

Result<void> ImportRun::apply(const Change& change) {
    Heads deps;
    for (const OpId& dep : change.deps) deps.push_back(*log_.atoms().lv_of(dep));
    const PeerIndex peer = log_.atoms().intern(change.id.peer);
    log_.begin(peer, deps, change.timestamp, change.message);
    Heads parents = log_.parents();
    const bool linear = parents == log_.heads();
    for (const Op& op : change.ops) {
        Container& c = body_.container(body_.open(op.container));
        touch(c);
        TRY(apply_op(c, op, parents, linear));
        parents.assign(1, log_.end() - 1);
    }
    log_.finish();
    return {};
}

// Whether a version holds all that the container has. When it does, the op's position is one of the
// text as it is.
bool ImportRun::holds_all(Container& c, const Heads& parents) const {
    const ContainerLog& log = body_.log_of(c);
    if (log.empty()) return true;
    const Graph& graph = log_.graph();
    if (log.runs().back().linear) return graph.contains(parents, log.end() - 1);
    return std::all_of(c.heads.rbegin(), c.heads.rend(),
                       [&](Lv head) { return graph.contains(parents, head); });
}

// From here on the container's heads are told one by one.
void ImportRun::leave_linear(Container& c) {
    const ContainerLog& log = body_.log_of(c);
    if (!log.empty() && log.runs().back().linear) c.heads.assign(1, log.end() - 1);
}

Result<void> ImportRun::apply_op(Container& c, const Op& op, const Heads& parents, bool linear) {
    ContainerLog& log = body_.log_of(c);
    const auto count = static_cast<Lv>(atom_count(op.content));
    const bool is_sequence = c.is_sequence();
    if (is_sequence && !std::holds_alternative<UnknownOp>(op.content)) {
        return apply_sequence_op(c, op, parents, linear || holds_all(c, parents));
    }
    if (const auto* add = std::get_if<CounterAdd>(&op.content)) {
        log.increment(log_.end(), add->delta);
        log_.append(c.index, count);
        return {};
    }
    const bool entry =
        std::holds_alternative<MapSet>(op.content) || std::holds_alternative<MapErase>(op.content);
    // What is carried holds no position: the heads of a sequence are those of the ops that do.
    if (is_sequence) leave_linear(c);
    log.keep(log_.end(), entry ? RunKind::map_entry : RunKind::other, 0, op.content, count,
             !is_sequence);
    log_.append(c.index, count);
    return {};
}

// A style's end lies behind the stretch that its start, the atom before it, names.
std::optional<std::uint32_t> ImportRun::anchor_position(Container& c, const Op& op) const {
    if (const auto* start = std::get_if<StyleStart>(&op.content)) return start->start;
    const OpId id{log_.atoms().peer(log_.current_peer()), op.counter - 1};
    const std::optional<Lv> lv = log_.atoms().lv_of(id);
    if (!lv || log_.container_of(*lv) != c.index) return std::nullopt;
    const ContainerLog& log = body_.log_of(c);
    const Run& run = log.runs()[log.find(*lv)];
    if (run.kind != RunKind::anchor) return std::nullopt;
    const auto* start = std::get_if<StyleStart>(&log.op(run));
    if (start == nullptr) return std::nullopt;
    return start->end + 1;
}

// The atom that made an element, if it is one of this list that the version knows.
std::optional<Lv> ImportRun::element_of(const Container& c, ElementId id,
                                        const Heads& parents) const {
    const std::optional<Lv> made = log_.atom_of(id);
    if (!made || log_.container_of(*made) != c.index) return std::nullopt;
    const ContainerLog& log = body_.log_of(c);
    if (log.runs()[log.find(*made)].kind != RunKind::insert) return std::nullopt;
    if (!log_.graph().contains(parents, *made)) return std::nullopt;
    return made;
}

Result<void> ImportRun::apply_sequence_op(Container& c, const Op& op, const Heads& parents,
                                          bool linear) {
    ContainerLog& log = body_.log_of(c);
    const Lv lv = log_.end();
    const auto count = static_cast<Lv>(atom_count(op.content));
    const bool joins = log_.joins();
    const auto* set = std::get_if<ListSet>(&op.content);
    const auto* move = std::get_if<ListMove>(&op.content);
    Lv element = kNoLv;
    if (set != nullptr || move != nullptr) {
        const ElementId id = set != nullptr ? set->element : move->element;
        const std::optional<Lv> made = element_of(c, id, parents);
        if (!made) {
            return corrupt(cat("an operation on a movable list names the element ", id.lamport, "@",
                               id.peer, ", which its version of that list does not have"));
        }
        element = *made;
    }
    if (set != nullptr) {
        // It holds no position: the heads of a sequence are those of the ops that do.
        if (!linear) leave_linear(c);
        log.set(lv, element, set->value, linear);
        log_.append(c.index, count);
        return {};
    }
    if (!linear) {
        body_.sequence(c);
        leave_linear(c);
    }

    if (move != nullptr) {
        log.move(lv, move->from, move->to, element, linear);
    } else if (const auto* insert = std::get_if<TextInsert>(&op.content)) {
        log.insert_text(lv, insert->pos, insert->text, count, linear, joins);
    } else if (const auto* elements = std::get_if<ListInsert>(&op.content)) {
        log.insert_values(lv, elements->pos, elements->values, linear, joins);
    } else if (const auto* erase = std::get_if<SequenceDelete>(&op.content)) {
        log.erase_recorded(lv, *erase, log_.atoms().intern(erase->start.peer), linear);
    } else {
        const std::optional<std::uint32_t> pos = anchor_position(c, op);
        if (!pos)
            return corrupt(
                cat("a style ends at ", id_text({0, op.counter}), " that has no start before it"));
        log.keep(lv, RunKind::anchor, *pos, op.content, 1, linear);
        c.has_anchors = true;
    }
    log_.append(c.index, count);

    const Run& run = log.runs().back();
    const std::uint32_t pos = run.is_insert() ? run.pos + (lv - run.lv) : run.pos;
    const auto out_of_bound = [&] {
        return corrupt(cat("an operation at position ", pos,
                           " lies beyond the end of what it was written for"));
    };
    if (run.is_insert() && count > kMaxSize - std::min(c.size, kMaxSize)) return out_of_bound();
    if (linear) {
        const bool fits = move != nullptr   ? move->from < c.size && move->to < c.size
                          : run.is_insert() ? pos <= c.size
                          : run.kind == RunKind::erase_forward
                              ? pos <= c.size && count <= c.size - pos
                              : pos < c.size && count <= pos + 1;
        if (!fits) return out_of_bound();
        if (move == nullptr) c.size = run.is_insert() ? c.size + count : c.size - count;
        return {};
    }
    touch(c).integrated = true;
    const std::size_t effects = c.effects.size();
    if (!c.sequence->integrate(body_.history(c), run, lv, count, parents, &c.effects))
        return out_of_bound();
    for (std::size_t i = effects; i < c.effects.size(); ++i) {
        c.size = c.effects[i].erase ? c.size - c.effects[i].len : c.size + c.effects[i].len;
    }
    // A head that the op follows is one no more.
    std::erase_if(c.heads, [&](Lv head) {
        return std::find(parents.begin(), parents.end(), head) != parents.end();
    });
    c.heads.push_back(log_.end() - 1);
    return {};
}

void ImportRun::rewind() {
    for (const auto& [index, before] : before_) {
        Container& c = body_.container(index);
        log_.log(index).rewind(before.log);
        c.size = before.size;
        c.has_anchors = before.has_anchors;
        c.heads = before.heads;
        c.effects.resize(before.effects);
        if (c.sequence != nullptr && (before.integrated || c.sequence->caught_up() > mark_.end))
            c.sequence.reset();
        // What it took in is in no log any more, and its positions lie there.
        if (c.tree != nullptr && c.tree->moves.taken() > before.log.runs) c.tree.reset();
    }
    log_.rewind(mark_);
    ++body_.epoch_;
}

void ImportRun::finish() {
    for (const auto& [index, before] : before_) {
        Container& c = body_.container(index);
        if (c.map == nullptr) continue;
        const auto& runs = log_.log(index).runs();
        for (std::size_t i = before.log.runs; i < runs.size(); ++i) {
            if (runs[i].kind == RunKind::map_entry) body_.apply_map(c, runs[i]);
        }
    }
    ++body_.epoch_;
}

namespace {

Counter end_of(const Change& change) {
    return change.ops.back().counter + atom_count(change.ops.back().content);
}

// A change of this import, or (with an owner) one that has waited since an earlier one.
struct Candidate {
    const Change* change = nullptr;
    Pending::Parked owner;
};

}  // namespace

// One attempt at an import: changes are applied as soon as what they depend on is there, in the
// order in which they came. A writer keeps side by side what belongs together, and so the sequences
// walk least.
class ImportBatch {
public:
    ImportBatch(DocBody& body, const std::vector<Change>& given)
        : body_(body), run_(body), pending_(body.pending_) {
        for (const Change& change : given) queue_.push_back({&change, nullptr});
    }

    // Applies what can be applied; on an error everything is taken back, and culprit() caused it.
    Result<void> go();
    const Candidate& culprit() const { return culprit_; }
    // After go(): what waits is parked, what was applied is told.
    Imported finish(ImportOptions options);

private:
    Result<void> take(const Candidate& candidate);
    Result<void> check_overlap(const Change& change, Counter end);
    std::optional<OpId> missing(const Change& change, Counter known) const;
    void release(IdSpan known);

    DocBody& body_;
    ImportRun run_;
    Pending pending_;  // A copy, so that a failed attempt leaves the document's as it was.
    std::deque<Candidate> queue_;
    std::multimap<OpId, Candidate> waiting_;  // By what they miss.
    Candidate culprit_;
    std::vector<IdSpan> success_;
};

Result<void> ImportBatch::go() {
    while (!queue_.empty()) {
        culprit_ = queue_.front();
        queue_.pop_front();
        Result<void> taken = take(culprit_);
        if (!taken) {
            run_.rewind();
            return taken;
        }
    }
    // What another change made known while it waited would be refused if it came now.
    for (const auto& [wants, candidate] : waiting_) {
        const Change& change = *candidate.change;
        const Counter known = body_.log_.atoms().end_of(change.id.peer);
        if (change.id.counter >= known) continue;
        Result<void> same = check_overlap(change, std::min(known, end_of(change)));
        if (same) continue;
        culprit_ = candidate;
        run_.rewind();
        return same;
    }
    return {};
}

Result<void> ImportBatch::take(const Candidate& candidate) {
    const Change& change = *candidate.change;
    const PeerId peer = change.id.peer;
    const Counter known = body_.log_.atoms().end_of(peer);
    const Counter end = end_of(change);
    if (change.id.counter < known) TRY(check_overlap(change, std::min(known, end)));
    if (end <= known) return {};
    if (const std::optional<OpId> wants = missing(change, known)) {
        waiting_.emplace(*wants, candidate);
        return {};
    }
    if (change.id.counter == known) {
        TRY(run_.apply(change));
    } else {
        TRY(run_.apply(slice(change, known - change.id.counter, end - change.id.counter)));
    }
    const auto last = std::find_if(success_.rbegin(), success_.rend(), [&](const IdSpan& span) {
        return span.peer == peer && span.end == known;
    });
    if (last != success_.rend()) {
        last->end = end;
    } else {
        success_.push_back({peer, known, end});
    }
    release({peer, known, end});
    return {};
}

Result<void> ImportBatch::check_overlap(const Change& change, Counter end) {
    const std::vector<Op> theirs = slice(change, 0, end - change.id.counter).ops;
    std::vector<Op> ours;
    for (const LvSpan& span :
         body_.log_.atoms().spans_of({change.id.peer, change.id.counter, end})) {
        for (Op& op : body_.export_ops(span)) ours.push_back(std::move(op));
    }
    if (same_atoms(theirs, ours)) return {};
    return fail(Errc::conflict, "op_id_reused",
                cat("operations from ", id_text(change.id),
                    " on are known here with other content: two writers have used one peer id; "
                    "nothing was imported"));
}

std::optional<OpId> ImportBatch::missing(const Change& change, Counter known) const {
    if (change.id.counter > known) return OpId{change.id.peer, change.id.counter - 1};
    for (const OpId& dep : change.deps) {
        if (dep.counter >= body_.log_.atoms().end_of(dep.peer)) return dep;
    }
    return std::nullopt;
}

// What waited for an atom of `known` is next.
void ImportBatch::release(IdSpan known) {
    const auto begin = waiting_.lower_bound({known.peer, known.begin});
    auto end = begin;
    for (; end != waiting_.end() && end->first < OpId{known.peer, known.end}; ++end)
        queue_.push_front(end->second);
    waiting_.erase(begin, end);
    if (pending_.empty()) return;
    for (Pending::Parked& parked : pending_.release(known)) {
        const Change* change = parked.get();
        queue_.push_front({change, std::move(parked)});
    }
}

Imported ImportBatch::finish(ImportOptions options) {
    run_.finish();
    Imported imported{std::move(success_), {}, {}};
    for (const auto& [wants, candidate] : waiting_) {
        const Change& change = *candidate.change;
        if (candidate.owner == nullptr)
            imported.pending.push_back({change.id.peer, change.id.counter, end_of(change)});
        pending_.park(wants, candidate.owner != nullptr ? candidate.owner
                                                        : std::make_shared<const Change>(change));
    }
    std::sort(imported.pending.begin(), imported.pending.end());
    body_.pending_ = std::move(pending_);
    const bool wants_event = body_.at() == nullptr && body_.wants_events();
    if (run_.span().size() == 0 || !(options.want_diff || wants_event)) return imported;
    const LvSpan span = run_.span();
    const Heads before = run_.heads_before();
    imported.diff = body_.diff_of(span, before);
    if (wants_event) {
        body_.tell({Event::By::import,
                    options.origin,
                    {},
                    body_.frontiers_of(before),
                    body_.frontiers_of(body_.log_.heads()),
                    imported.diff});
    }
    return imported;
}

Result<Imported> DocBody::import(std::vector<Change> changes, ImportOptions options) {
    CHECK(!open_);
    bool news = false;
    for (const Change& change : changes) {
        TRY(validate(change));
        news = news || end_of(change) > log_.atoms().end_of(change.id.peer);
    }
    if (!news) return Imported{};
    began_ = log_.end();
    for (;;) {
        ImportBatch batch(*this, changes);
        Result<void> gone = batch.go();
        if (gone) return batch.finish(options);
        if (batch.culprit().owner == nullptr) return Failure(std::move(gone).error());
        // It waited here since an earlier import; what waits must not keep out what is sound.
        pending_.drop(batch.culprit().owner);
    }
}

}  // namespace quire::crdt
