// Each function walks one structure of the document: the order of a text or list, the winners of a
// map, the slots of a movable list, the placements of a tree. A stretch whose ids and lamports
// both count up is one entry, which is what makes a snapshot of typed text small.
#include "crdt/doc/inspection.h"

#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/history.h"
#include "crdt/doc/order.h"
#include "crdt/doc/tree_parts.h"
#include "crdt/doc/values.h"
#include "crdt/state/movable_state.h"

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
        // A text that was written all over has mostly single atoms, which need no search.
        Lv high = len == 1 ? 1 : std::min(len, log.atoms().run_end(lv) - lv);
        if (high == 1 || log.graph().lamport(lv + high - 1) - first == high - 1) {
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

Inspection Inspection::without_history(const Doc& doc) {
    Inspection inspection(doc);
    inspection.reads_history_ = false;
    return inspection;
}

DocBody& Inspection::body() const {
    CHECK(!reads_history_ || doc_->history().load());
    return whole_of(*doc_);
}

// O(containers), and O(ops) for those whose logs are packed: looking at a log opens it.
std::vector<Handle> Inspection::written() const {
    DocBody& body = this->body();
    std::vector<Handle> handles;
    for (ContainerIndex i = 0; i < body.container_count(); ++i) {
        if (!body.oplog().logs()[i].empty()) handles.push_back(Handle{i});
    }
    return handles;
}

std::vector<Handle> Inspection::shown_roots() const {
    DocBody& body = this->body();
    std::vector<Handle> handles;
    for (const ContainerIndex i : crdt::shown_roots(body, body.at())) handles.push_back(Handle{i});
    return handles;
}

std::vector<Handle> Inspection::written_since_opening() const {
    const OpLog& log = body().oplog();
    std::vector<Handle> handles;
    if (log.base() == log.end()) return handles;
    log.for_each_owner({log.base(), log.end()},
                       [&](ContainerIndex index, LvSpan) { handles.push_back(Handle{index}); });
    std::sort(handles.begin(), handles.end());
    handles.erase(std::unique(handles.begin(), handles.end()), handles.end());
    return handles;
}

std::optional<ContainerId> Inspection::parent_of(const ContainerId& id) const {
    if (id.is_root()) return std::nullopt;
    DocBody& body = this->body();
    const std::optional<DocBody::Holder> holder = body.holder_of(id);
    if (!holder) return std::nullopt;
    return body.container(holder->index).id;
}

bool Inspection::may_show(const ContainerId& id) const {
    DocBody& body = this->body();
    return body.may_show(body.container(body.open(id)));
}

std::vector<Inspection::Stretch> Inspection::stretches(Handle sequence) const {
    DocBody& body = this->body();
    Container& c = body.container(sequence);
    CHECK(c.id.kind == ContainerKind::text || c.id.kind == ContainerKind::list);
    const OpLog& oplog = body.oplog();
    const ContainerLog& log = *c.log;
    std::vector<Stretch> stretches;
    order_of({body, c}).for_each_last([&](Lv lv, Lv len, bool visible) {
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
                        stretch.ended = &style_at(log, *style_start(oplog, from));
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

std::vector<Inspection::Register> Inspection::registers(Handle map) const {
    DocBody& body = this->body();
    const Container& c = body.container(map);
    std::vector<Register> registers;
    c.as<MapBody>().state.for_each([&](const std::string& key, const MapState::Entry& entry) {
        const MapState::Write& last = entry.winner;
        registers.push_back({key, last.erases ? nullptr : body.slot_of(last.lv),
                             body.oplog().atoms().id_of(last.lv), last.lamport});
    });
    return registers;
}

std::vector<Inspection::MovableSlot> Inspection::movable_slots(Handle list) const {
    DocBody& body = this->body();
    Container& c = body.container(list);
    const AtomTable& atoms = body.oplog().atoms();
    const Graph& graph = body.oplog().graph();
    const MovableState& state = c.as<MovableBody>().latest({body, c});
    std::vector<MovableSlot> slots;
    slots.reserve(state.slots().size());
    state.slots().for_each([&](const SlotTree::Slot& slot) {
        MovableSlot& told = slots.emplace_back();
        told.atom = atoms.id_of(slot.lv);
        told.lamport = graph.lamport(slot.lv);
        if (!slot.is_shown()) return;
        const MovableState::Element& element = state.element(slot.element);
        told.shows = body.slot_of(element.value);
        told.element = {atoms.peer_of(element.made), graph.lamport(element.made)};
        told.written_by = atoms.id_of(element.value);
        told.written_at = graph.lamport(element.value);
    });
    return slots;
}

std::vector<ElementId> Inspection::hidden_elements(Handle list) const {
    DocBody& body = this->body();
    Container& c = body.container(list);
    const MovableState& state = c.as<MovableBody>().latest({body, c});
    std::vector<ElementId> hidden;
    // Most lists hide nothing, and then no element is looked at.
    if (state.slots().shown() == state.element_count()) return hidden;
    for (std::uint32_t number = 0; number < state.element_count(); ++number) {
        if (!state.slots().is_shown(number))
            hidden.push_back(body.oplog().element_id(state.element(number).made));
    }
    return hidden;
}

std::vector<Inspection::TreePlace> Inspection::tree_places(Handle tree) const {
    DocBody& body = this->body();
    Container& c = body.container(tree);
    const TreeParts& t = c.as<TreeBody>().tree({body, c}, nullptr);
    const ContainerLog& log = *c.log;
    std::vector<TreePlace> places;
    for (const Placement& place : t.moves.placements(log)) {
        // A node whose ancestors end at one that nobody made hangs in the air; no snapshot has it.
        if (!t.state.is_rooted(place.node)) continue;
        TreePlace out;
        out.id = place.id;
        out.erased = place.parent == kTreeErased;
        if (place.parent >= kFirstNode) out.parent = t.moves.id_of(place.parent);
        out.last_move = body.oplog().atoms().id_of(log.runs()[*t.moves.run_of(place.node)].lv);
        out.lamport = place.lamport;
        out.position.assign(place.position.begin(), place.position.end());
        places.push_back(std::move(out));
    }
    return places;
}

std::optional<ContainerId> Inspection::foreign_maker(Handle tree, OpId node) const {
    DocBody& body = this->body();
    const std::optional<Lv> made = body.oplog().atoms().lv_of(node);
    if (!made) return std::nullopt;
    const ContainerIndex maker = body.oplog().container_of(*made);
    if (maker == body.container(tree).index) return std::nullopt;
    return body.container(maker).id;
}

double Inspection::counter_total(Handle counter) const {
    DocBody& body = this->body();
    Container& c = body.container(counter);
    return c.as<CounterBody>().total({body, c}, nullptr);
}

}  // namespace quire::crdt
