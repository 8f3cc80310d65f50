// What was brought back, told by ids, and learned again.
#include <algorithm>

#include "base/cat.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

namespace {

using As = StandIn::As;

struct Known {
    Lv of;
    Lv copy;
    std::uint32_t len;
    As as;
};

// The container that an atom made.
std::optional<ContainerId> made_by(DocBody& body, Lv lv) {
    const ContainerLog& log = body.oplog().log(body.oplog().container_of(lv));
    if (log.kind() == ContainerKind::tree) {
        if (!std::holds_alternative<TreeCreate>(log.op(log.runs()[log.find(lv)])))
            return std::nullopt;
        return body.child_id(lv, ContainerKind::map);
    }
    const Slot* slot = body.slot_of(lv);
    const auto* kind = slot == nullptr ? nullptr : std::get_if<ContainerKind>(slot);
    return kind == nullptr ? std::nullopt : std::optional(body.child_id(lv, *kind));
}

bool add(Identities& identities, const Known& known) {
    if (known.of >= known.copy || !identities.can_add(known.copy)) return false;
    identities.add(known.of, known.copy, known.len);
    return true;
}

// False where that cannot be.
bool learn(DocBody& body, const Known& known) {
    StandIns& all = body.stand_ins();
    switch (known.as) {
        case As::atom:
            return add(all.atoms, known);
        case As::place:
            return known.of < known.copy;
        case As::value:
            return add(all.values, known);
        case As::slot:
            return add(all.slots, known);
        case As::style:
            if (known.of >= known.copy || known.len != 1) return false;
            all.styles[known.copy] = known.of;
            return true;
        case As::child: {
            const auto from = made_by(body, known.of);
            const auto to = made_by(body, known.copy);
            if (known.of >= known.copy || !from || !to || from->kind != to->kind) return false;
            all.copied(body.open(*from), body.open(*to));
            return true;
        }
        case As::settled:
            if (known.len != 1) return false;
            if (known.of == known.copy) {
                all.settled[known.copy] = kNoLv;
                return true;
            }
            // Nothing says in the end what it says itself.
            if (all.settled_as(known.of) == known.copy) return false;
            all.settled[known.copy] = known.of;
            return true;
    }
    return false;
}

}  // namespace

std::vector<StandIn> Doc::stand_ins(const IdSpan& reverted) const {
    std::vector<StandIn> out;
    const AtomTable& atoms = body_->oplog().atoms();
    const auto one = [&](Lv of, Lv copy, As as) {
        out.push_back({atoms.id_of(of), atoms.id_of(copy), 1, as});
    };
    const auto tell = [&](const Identities& identities, LvSpan span, As as) {
        identities.for_each_copy(span, [&](Lv of, Lv copy, std::uint32_t len) {
            // Neighbours here need not be neighbours by id.
            while (len > 0) {
                const std::uint32_t n =
                    std::min({len, atoms.run_end(of) - of, atoms.run_end(copy) - copy});
                out.push_back({atoms.id_of(of), atoms.id_of(copy), static_cast<Counter>(n), as});
                of += n;
                copy += n;
                len -= n;
            }
        });
    };
    const Counter end = std::min(reverted.end, atoms.end_of(reverted.peer));
    if (reverted.begin >= end) return out;
    const StandIns& all = body_->stand_ins();
    for (const LvSpan& span : atoms.spans_of({reverted.peer, reverted.begin, end})) {
        tell(all.atoms, span, As::atom);
        tell(all.values, span, As::value);
        tell(all.slots, span, As::slot);
        for (auto at = all.styles.lower_bound(span.begin);
             at != all.styles.end() && at->first < span.end; ++at)
            one(at->second, at->first, As::style);
        for (const auto& [to, from] : all.sources) {
            const Lv copy = *atoms.lv_of(body_->container(to).id.op());
            if (copy >= span.begin && copy < span.end)
                one(*atoms.lv_of(body_->container(from).id.op()), copy, As::child);
        }
    }
    return out;
}

Result<void> Doc::recall(const std::vector<StandIn>& stand_ins) {
    TRY(load_history());
    const AtomTable& atoms = body_->oplog().atoms();
    std::vector<Known> known;
    const auto wrong = [](const StandIn& one) {
        return corrupt(cat("what ", one.copy.counter, "@", one.copy.peer,
                           " is said to stand for is not in the history"));
    };
    for (const StandIn& one : stand_ins) {
        const auto is_known = [&](OpId id) {
            return id.counter >= 0 && one.length <= atoms.end_of(id.peer) - id.counter;
        };
        if (one.length <= 0 || !is_known(one.of) || !is_known(one.copy)) return wrong(one);
        // Neighbours by id need not be neighbours here.
        for (Counter at = 0; at < one.length;) {
            const Lv of = *atoms.lv_of({one.of.peer, one.of.counter + at});
            const Lv copy = *atoms.lv_of({one.copy.peer, one.copy.counter + at});
            const std::uint32_t len =
                std::min({static_cast<std::uint32_t>(one.length - at), atoms.run_end(of) - of,
                          atoms.run_end(copy) - copy});
            known.push_back({of, copy, len, one.as});
            at += static_cast<Counter>(len);
        }
    }
    // In the order in which they came back.
    std::stable_sort(known.begin(), known.end(),
                     [](const Known& a, const Known& b) { return a.copy < b.copy; });
    for (const Known& one : known) {
        if (!learn(*body_, one))
            return wrong({atoms.id_of(one.of), atoms.id_of(one.copy), 1, one.as});
    }
    return {};
}

}  // namespace quire::crdt
