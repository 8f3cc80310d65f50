// What a document can tell of itself beyond its values: for codecs and tests.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

namespace {

// Calls take(lv, len, lamport) for the parts of [lv, lv + len) in which both ids and lamports count
// up by one. Within a run of ids lamports grow by at least one an atom, so that the ends tell
// whether all between them do.
template <class Take>
void for_each_stamped(const OpLog& log, Lv lv, Lv len, Take take) {
    while (len > 0) {
        const Lamport first = log.graph().lamport(lv);
        Lv low = 1;
        Lv high = std::min(len, log.atoms().run_end(lv) - lv);
        if (log.graph().lamport(lv + high - 1) - first == high - 1) {
            low = high;
        } else {
            // The first `low` count up, the first `high` do not.
            while (high - low > 1) {
                const Lv middle = low + (high - low) / 2;
                const bool even = log.graph().lamport(lv + middle - 1) - first == middle - 1;
                (even ? low : high) = middle;
            }
        }
        take(lv, low, first);
        lv += low;
        len -= low;
    }
}

}  // namespace

Frontiers Doc::heads_of(const VersionVector& version) const {
    CHECK(load_history());
    const AtomTable& atoms = body_->oplog().atoms();
    Heads last;
    for (const auto& [peer, end] : version.ends()) {
        const Counter known = std::min(end, atoms.end_of(peer));
        if (known > 0) last.push_back(*atoms.lv_of({peer, known - 1}));
    }
    return body_->frontiers_of(body_->oplog().graph().minimal(std::move(last)));
}

std::vector<Handle> Doc::written() const {
    CHECK(load_history());
    std::vector<Handle> handles;
    for (const Container& c : body_->containers()) {
        if (!DocBody::log_of(c).empty()) handles.push_back(Handle{c.index});
    }
    return handles;
}

std::optional<ContainerId> Doc::parent_of(const ContainerId& id) const {
    if (id.is_root()) return std::nullopt;
    CHECK(load_history());
    const std::optional<Lv> creator = body_->oplog().atoms().lv_of(id.op());
    if (!creator) return std::nullopt;
    return body_->container(body_->oplog().container_of(*creator)).id;
}

std::vector<Doc::Stretch> Doc::stretches(Handle sequence) const {
    CHECK(load_history());
    Container& c = body_->container(sequence);
    CHECK(c.id.kind == ContainerKind::text || c.id.kind == ContainerKind::list);
    const OpLog& oplog = body_->oplog();
    const ContainerLog& log = DocBody::log_of(c);
    std::vector<Stretch> stretches;
    body_->sequence(c).for_each_last([&](Lv lv, Lv len, bool visible) {
        while (visible && len > 0) {
            const Run& run = log.runs()[log.find(lv)];
            const Lv here = std::min(len, run.end() - lv);
            for_each_stamped(oplog, lv, here, [&](Lv from, Lv size, Lamport lamport) {
                Stretch stretch;
                stretch.first = oplog.atoms().id_of(from);
                stretch.lamport = lamport;
                stretch.size = static_cast<Counter>(size);
                if (run.kind == RunKind::anchor) {
                    stretch.style = &log.op(run);
                    if (std::holds_alternative<StyleEnd>(*stretch.style))
                        stretch.ended = &body_->style_at(c, *body_->style_start(from));
                } else if (c.id.kind == ContainerKind::text) {
                    stretch.text = log.text(run, from, size);
                } else {
                    stretch.values = {&log.value(run, from), size};
                }
                stretches.push_back(stretch);
            });
            lv += here;
            len -= here;
        }
    });
    return stretches;
}

std::vector<Doc::Register> Doc::registers(Handle map) const {
    CHECK(load_history());
    const Container& c = body_->container(map);
    CHECK(c.id.kind == ContainerKind::map);
    std::vector<Register> registers;
    for (const auto& [key, entry] : c.map->entries()) {
        const MapState::Write& last = entry.winner;
        registers.push_back({key, last.erases ? nullptr : body_->slot_of(last.lv),
                             body_->oplog().atoms().id_of(last.lv), last.lamport});
    }
    return registers;
}

std::vector<Doc::MovableSlot> Doc::movable_slots(Handle list) const {
    CHECK(load_history());
    Container& c = body_->container(list);
    CHECK(c.id.kind == ContainerKind::movable_list);
    const AtomTable& atoms = body_->oplog().atoms();
    const Graph& graph = body_->oplog().graph();
    const MovableState& state = body_->movable(c);
    std::vector<MovableSlot> slots;
    slots.reserve(state.slots().size());
    state.slots().for_each([&](const SlotTree::Slot& slot) {
        MovableSlot& told = slots.emplace_back();
        told.atom = atoms.id_of(slot.lv);
        told.lamport = graph.lamport(slot.lv);
        if (!slot.is_shown()) return;
        const MovableState::Element& element = state.element(slot.element);
        told.shows = body_->slot_of(element.value);
        told.element = {atoms.peer_of(element.made), graph.lamport(element.made)};
        told.written_by = atoms.id_of(element.value);
        told.written_at = graph.lamport(element.value);
    });
    return slots;
}

double Doc::counter_total(Handle counter) const {
    Container& c = body_->container(counter);
    CHECK(c.id.kind == ContainerKind::counter);
    return body_->counter_value(c, nullptr);
}

}  // namespace quire::crdt
