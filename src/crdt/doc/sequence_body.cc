// An edit writes its position to the log and counts entities: O(1). The order of all atoms (a Fugue
// tree, merge/sequence.h) is built from the log when a merge, a cursor or a comparison first asks,
// and follows the log from then on: O(new ops · log n). A difference between two versions moves the
// order from one to the other and notes what was visible where.
#include "crdt/doc/sequence_body.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/order.h"
#include "crdt/merge/splices.h"

namespace quire::crdt {

namespace {

Sequence::History history_of(Site site) {
    const OpLog& log = site.document.oplog();
    return {log.atoms(), log.graph(), *site.container.log};
}

}  // namespace

SequenceBody::SequenceBody() = default;
SequenceBody::~SequenceBody() = default;

void SequenceBody::copy_from(const SequenceBody& other) {
    size = other.size;
    kept = other.kept == nullptr ? nullptr : std::make_unique<Sequence>(*other.kept);
    effects = other.effects;
}

Sequence& SequenceBody::order(Site site) {
    if (kept == nullptr) kept = std::make_unique<Sequence>();
    kept->catch_up(history_of(site), site.document.oplog().end());
    return *kept;
}

Sequence& SequenceBody::order_at(Site site, const Heads& heads) {
    Sequence& sequence = order(site);
    sequence.move_to(history_of(site), heads);
    return sequence;
}

Lv SequenceBody::atom_at(Site site, std::size_t index) {
    return order(site).atom_at(static_cast<std::uint32_t>(index));
}

bool SequenceBody::integrate(Site site, const Run& run, LvSpan atoms, const Heads& parents) {
    return kept->integrate(history_of(site), run, atoms, parents, &effects);
}

Sequence& order_of(Site site) {
    SequenceBody* body = site.container.sequence();
    CHECK(body != nullptr);
    return body->order(site);
}

bool holds_all_of(const Past& past, const ContainerLog& log) {
    const auto& spans = past.spans();
    return log.empty() || (!spans.empty() && spans[0].begin == 0 && log.end() <= spans[0].end);
}

// The order is moved to `a` and walked, then moved to `b` and walked again; deleted atoms are
// walked too, so that both walks meet the same atoms in the same order. Atoms that neither version
// shows are left out.
std::vector<Compared> SequenceBody::compare(Site site, const Past& a, const Past& b) {
    std::vector<Compared> stretches;
    order_at(site, a.heads()).for_each([&](Lv lv, std::uint32_t len, bool visible) {
        stretches.push_back({lv, len, visible, false});
    });
    std::vector<Compared> out;
    auto at = stretches.begin();
    order_at(site, b.heads()).for_each([&](Lv lv, std::uint32_t len, bool visible) {
        // Each stretch is one of those before, or a part of one.
        while (lv < at->lv || lv >= at->lv + at->len) ++at;
        if (at->in_a || visible) out.push_back({lv, len, at->in_a, visible});
    });
    return out;
}

// Replays the ops on nothing but their positions. Linear runs carry the positions that they were
// written at; the others left effects. Effects are searched for from the span's begin, because
// those of earlier ops may still be here.
Splices SequenceBody::splices_in(Site site, LvSpan span) const {
    Splices splices;
    auto effect = std::lower_bound(effects.begin(), effects.end(), span.begin,
                                   [](const Effect& e, Lv lv) { return e.lv < lv; });
    for (const Run& run : site.container.log->runs_in(span)) {
        const Lv from = std::max(run.lv, span.begin);
        const Lv to = std::min(run.end(), span.end);
        if (!run.in_sequence()) continue;
        if (!run.linear) {
            for (; effect != effects.end() && effect->lv < to; ++effect) {
                if (effect->erase) {
                    splices.erase(effect->pos, effect->len);
                } else {
                    splices.insert(effect->pos, effect->lv, effect->len);
                }
            }
        } else if (run.is_insert()) {
            splices.insert(run.pos + (from - run.lv), from, to - from);
        } else if (run.kind == RunKind::erase_forward) {
            splices.erase(run.pos, to - from);
        } else {
            // Each atom of a backspaced run deletes one position lower than the atom before it.
            splices.erase(run.pos - (to - 1 - run.lv), to - from);
        }
    }
    return splices;
}

// --- local ops ---

void SequenceBody::insert_values(Site site, std::uint32_t at, std::vector<Slot> values) {
    OpLog& log = site.document.journal().begin();
    const auto len = static_cast<std::uint32_t>(values.size());
    site.container.log->insert_values(log.end(), at, std::move(values), true, log.joins());
    note_inserted(site, log, len);
}

void SequenceBody::insert_value(Site site, std::uint32_t at, Slot value) {
    OpLog& log = site.document.journal().begin();
    site.container.log->insert_value(log.end(), at, std::move(value), true, log.joins());
    note_inserted(site, log, 1);
}

// An element may be a child container, so what was known about reachable children is outdated. A
// text's inserts, which never hold children, do not come this way.
void SequenceBody::note_inserted(Site site, OpLog& log, std::uint32_t len) {
    log.append(site.container.index, len);
    size += len;
    site.document.outdate_reach();
}

void SequenceBody::write_erase(Site site, std::uint32_t at, std::uint32_t len) {
    OpLog& log = site.document.journal().begin();
    site.container.log->erase_forward(log.end(), at, len, log.joins());
    log.append(site.container.index, len);
    size -= len;
}

void SequenceBody::erase(Site site, std::uint32_t at, std::uint32_t len) {
    write_erase(site, at, len);
    site.document.outdate_reach();
}

// --- promises ---

// Compares the order that was kept over all merges with one that is built from the log at once.
void SequenceBody::check_order(Site site) {
    Sequence& latest = order(site);
    latest.check_invariants();
    Sequence fresh;
    fresh.catch_up(history_of(site), site.document.oplog().end());
    fresh.check_invariants();
    const auto atoms_of = [](Sequence& sequence) {
        std::vector<std::pair<Lv, bool>> atoms;
        sequence.for_each_last([&](Lv lv, std::uint32_t len, bool visible) {
            for (Lv at = lv; at < lv + len; ++at) atoms.emplace_back(at, visible);
        });
        return atoms;
    };
    CHECK(atoms_of(latest) == atoms_of(fresh));
    CHECK(latest.visible() == size);
}

}  // namespace quire::crdt
