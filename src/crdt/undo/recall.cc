// Stand-ins as ids, to be saved, and learned again from there.
//
// The notes come from a store, and may be damaged or belong to another history. A stand-in
// is taken only where both atoms are known, the copy is the younger one, and both are the same kind
// of op in one container or in what came back of it: later reverts go from the one to the other
// without another look. O(n log n) for n stand-ins.
#include <algorithm>

#include "base/concat.h"
#include "crdt/doc/body.h"
#include "crdt/doc/history.h"
#include "crdt/undo/revert.h"
#include "crdt/undo/stand_ins.h"

namespace quire::crdt {

namespace {

using As = StandIn::As;

struct Known {
    Lv of;
    Lv copy;
    std::uint32_t len;
    As as;
};

// The log, the run and the container that an atom is a part of.
struct Part {
    const ContainerLog& log;
    const Run& run;
    ContainerIndex first;  // The container that its own is a copy of in the end; or itself.
};
Part part_of(DocBody& body, Lv lv) {
    const ContainerIndex container = body.oplog().container_of(lv);
    const ContainerLog& log = body.oplog().logs()[container];
    return {log, log.runs()[log.find(lv)], stand_ins_of(body).first(container)};
}

// The op that it is; null for what is told by its run.
const OpContent* op_of(const Part& part) {
    switch (part.run.kind) {
        case RunKind::anchor:
        case RunKind::map_entry:
        case RunKind::other:
            return &part.log.op(part.run);
        case RunKind::insert:
        case RunKind::erase_forward:
        case RunKind::erase_backward:
        case RunKind::move:
        case RunKind::element_set:
        case RunKind::increment:
            return nullptr;
    }
    return nullptr;
}
template <class What>
bool is_op(const Part& part) {
    const OpContent* op = op_of(part);
    return op != nullptr && std::holds_alternative<What>(*op);
}

// The key of a style or a map's entry; none for other ops.
std::string_view key_of(const Part& part) {
    const OpContent* op = op_of(part);
    if (op == nullptr) return {};
    if (const auto* start = std::get_if<StyleStart>(op)) return start->key;
    if (const auto* set = std::get_if<MapSet>(op)) return set->key;
    if (const auto* erase = std::get_if<MapErase>(op)) return erase->key;
    return {};
}

// Returns true if an atom of this part can stand for another in this role.
bool may_be(As as, const Part& part) {
    const RunKind kind = part.run.kind;
    const bool is_movable = part.log.kind() == ContainerKind::movable_list;
    switch (as) {
        case As::atom:
            return kind == RunKind::insert || kind == RunKind::map_entry ||
                   is_op<StyleStart>(part) || is_op<TreeCreate>(part);
        case As::place:
        case As::child:
            return true;
        case As::value:
            if (part.log.kind() == ContainerKind::tree) return !is_op<UnknownOp>(part);
            return is_movable && (kind == RunKind::insert || kind == RunKind::element_set);
        case As::slot:
            return is_movable && (kind == RunKind::insert || kind == RunKind::move);
        case As::style:
            return is_op<StyleStart>(part);
        case As::settled:
            return kind == RunKind::map_entry;
    }
    return false;
}

// Returns true if the atoms are of one container, or of its copies, and have the same role there. A
// later revert goes from one to the other without asking again.
bool agree(DocBody& body, const Known& known) {
    const bool are_same_ops =
        known.as == As::atom || known.as == As::style || known.as == As::settled;
    for (Lv at = 0; at < known.len;) {
        const Part of = part_of(body, known.of + at);
        const Part copy = part_of(body, known.copy + at);
        if (of.first != copy.first || !may_be(known.as, of) || !may_be(known.as, copy))
            return false;
        const OpContent* one = op_of(of);
        const OpContent* other = op_of(copy);
        if (are_same_ops && (of.run.kind != copy.run.kind || key_of(of) != key_of(copy) ||
                             (one != nullptr && one->index() != other->index())))
            return false;
        at = std::min(of.run.end() - known.of, copy.run.end() - known.copy);
    }
    return true;
}

// The container that an atom made.
std::optional<ContainerId> made_by(DocBody& body, Lv lv) {
    if (is_op<TreeCreate>(part_of(body, lv))) return body.child_id(lv, ContainerKind::map);
    const Slot* slot = body.slot_of(lv);
    const auto* kind = slot == nullptr ? nullptr : std::get_if<ContainerKind>(slot);
    return kind == nullptr ? std::nullopt : std::optional(body.child_id(lv, *kind));
}

bool add(Identities& identities, const Known& known) {
    if (!identities.can_add(known.copy)) return false;
    identities.add(known.of, known.copy, known.len);
    return true;
}

// Notes that a map's write shows what `of` wrote; nothing, where both are the same op. False where
// that cannot be.
bool settle(DocBody& body, const Known& known) {
    StandIns& all = stand_ins_of(body);
    if (known.of == known.copy) {
        if (!is_op<MapErase>(part_of(body, known.copy))) return false;
        all.settled[known.copy] = kNoLv;
        return true;
    }
    // Nothing says in the end what it says itself.
    for (Lv at = known.of; at != known.copy; at = all.settled.at(at)) {
        if (!all.settled.contains(at)) {
            all.settled[known.copy] = known.of;
            return true;
        }
    }
    return false;
}

// Returns false where that cannot be.
bool learn(DocBody& body, const Known& known) {
    // A copy is younger than its original; a write may be settled as a younger one.
    if (known.as != As::settled && known.of + known.len > known.copy) return false;
    if (!agree(body, known)) return false;
    StandIns& all = stand_ins_of(body);
    switch (known.as) {
        case As::atom:
            return add(all.atoms, known);
        case As::place:
            return true;
        case As::value:
            return add(all.values, known);
        case As::slot:
            return add(all.slots, known);
        case As::style:
            if (known.len != 1) return false;
            all.styles[known.copy] = known.of;
            return true;
        case As::child: {
            const auto from = made_by(body, known.of);
            const auto to = made_by(body, known.copy);
            if (known.len != 1 || !from || !to || from->kind != to->kind) return false;
            const ContainerIndex copy = body.open(*to);
            if (all.sources.contains(copy)) return false;
            all.copied(body.open(*from), copy);
            return true;
        }
        case As::settled:
            return known.len == 1 && settle(body, known);
    }
    return false;
}

}  // namespace

std::vector<StandIn> stand_ins(const Doc& doc, const IdSpan& reverted) {
    std::vector<StandIn> out;
    DocBody& body = body_of(doc);
    const AtomTable& atoms = body.oplog().atoms();
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
    const StandIns& all = stand_ins_of(body);
    for (const LvSpan& span : atoms.spans_of({reverted.peer, reverted.begin, end})) {
        tell(all.atoms, span, As::atom);
        tell(all.values, span, As::value);
        tell(all.slots, span, As::slot);
        for (auto at = all.styles.lower_bound(span.begin);
             at != all.styles.end() && at->first < span.end; ++at)
            one(at->second, at->first, As::style);
        for (const auto& [to, from] : all.sources) {
            const Lv copy = *atoms.lv_of(body.container(to).id.op());
            if (copy >= span.begin && copy < span.end)
                one(*atoms.lv_of(body.container(from).id.op()), copy, As::child);
        }
    }
    return out;
}

Result<void> recall(Doc& doc, const std::vector<StandIn>& stand_ins) {
    TRY(doc.history().load());
    DocBody& body = body_of(doc);
    const AtomTable& atoms = body.oplog().atoms();
    std::vector<Known> known;
    const auto wrong = [](OpId copy, std::string_view why) {
        return corrupt(cat("what ", copy.counter, "@", copy.peer, " is said to stand for ", why));
    };
    for (const StandIn& one : stand_ins) {
        const auto is_known = [&](OpId id) {
            return id.counter >= 0 && one.length <= atoms.end_of(id.peer) - id.counter;
        };
        if (one.length <= 0 || !is_known(one.of) || !is_known(one.copy))
            return wrong(one.copy, "is not in the history");
        // Neighbours by id need not be neighbours here.
        for (Counter at = 0; at < one.length;) {
            const std::optional<Lv> of = atoms.lv_of({one.of.peer, one.of.counter + at});
            const std::optional<Lv> copy = atoms.lv_of({one.copy.peer, one.copy.counter + at});
            // A shallow document does not know what was trimmed.
            if (!of || !copy) return wrong(one.copy, "is not in the history");
            const std::uint32_t len =
                std::min({static_cast<std::uint32_t>(one.length - at), atoms.run_end(*of) - *of,
                          atoms.run_end(*copy) - *copy});
            known.push_back({*of, *copy, len, one.as});
            at += static_cast<Counter>(len);
        }
    }
    stand_ins_of(body).put_behind.clear();
    // In the order in which they came back.
    std::stable_sort(known.begin(), known.end(),
                     [](const Known& a, const Known& b) { return a.copy < b.copy; });
    for (const Known& one : known) {
        if (!learn(body, one)) return wrong(atoms.id_of(one.copy), "is something else");
    }
    return {};
}

}  // namespace quire::crdt
