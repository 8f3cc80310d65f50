// Taking back what was done to movable lists, element by element: made, moved, set, deleted. Moving
// and setting are last writes, taken back where they still decide.
#include <algorithm>

#include "crdt/doc/order.h"
#include "crdt/state/movable_state.h"
#include "crdt/undo/reversal.h"

namespace quire::crdt {

// The insert that made the element which a slot was made for.
Lv Reversal::element_of(const Container& c, Lv slot) const {
    const ContainerLog& log = *c.log;
    const Run& run = log.runs()[log.find(slot)];
    return run.kind == RunKind::move ? run.extra : slot;
}

std::map<Lv, Reversal::Element> Reversal::touched_elements(Container& c) {
    std::map<Lv, Element> elements;
    const auto at = [&](Lv made) -> Element& {
        Element& element = elements[made];
        element.moves.names = &stand_ins_.slots;
        element.sets.names = &stand_ins_.values;
        return element;
    };
    const Sequence& order = order_of({body_, c});
    const ContainerLog& log = *c.log;
    for (const LvSpan& span : spans_) {
        for (const Run& run : log.runs_in(span)) {
            const Lv from = std::max(run.lv, span.begin);
            const Lv to = std::min(run.end(), span.end);
            if (run.kind == RunKind::insert) {
                for (Lv lv = from; lv < to; ++lv) at(lv).made = true;
            } else if (run.kind == RunKind::move) {
                note(at(run.extra).moves, run.lv);
            } else if (run.kind == RunKind::element_set) {
                note(at(run.extra).sets, run.lv);
            } else if (run.is_erase()) {
                for (const Sequence::Target& target : order.targets(from, to - from)) {
                    for (Lv slot = target.first; slot < target.first + target.len; ++slot) {
                        Element& element = at(element_of(c, slot));
                        element.slot = slot;
                        ++element.deleted;
                    }
                }
            }
        }
    }
    return elements;
}

// The latest of an element's writes that stood before the spans', in whatever copy of it.
// An insert counts as a write of both kinds, since it gives the element its first place and value.
Lv Reversal::before(const Container& c, Lv made, const Register& taken, RunKind kind) const {
    Lv best = kNoLv;
    const Lv origin = stand_ins_.atoms.origin(made).lv;
    const auto offer = [&](Lv write) {
        if (stood_before(taken, write) && (best == kNoLv || ranks_below(best, write))) best = write;
    };
    for (const Run& run : c.log->runs()) {
        if (run.kind == kind && stand_ins_.atoms.origin(run.extra).lv == origin) offer(run.lv);
        if (run.kind != RunKind::insert) continue;
        for (Lv lv = run.lv; lv < run.end();) {
            const Identities::Stretch stretch = stand_ins_.atoms.origin(lv, run.end() - lv);
            if (origin >= stretch.lv && origin < stretch.lv + stretch.len)
                offer(lv + (origin - stretch.lv));
            lv += stretch.len;
        }
    }
    return best;
}

void Reversal::movable(Container& c) {
    Container* to = living(c);
    if (to != nullptr) go_back(c, *to, way_back(c, *to));
}

// Takes out what was made, and says what is still to be done.
// `to` is the list itself, or the copy in which it goes on.
Reversal::MovableWayBack Reversal::way_back(Container& c, Container& to) {
    MovableWayBack way;
    auto& [steps, sets] = way;
    std::map<Lv, Element> touched = touched_elements(c);
    for (auto& [made, element] : touched) {
        const Lv last = stand_ins_.atoms.newest(made).lv;
        Container& home = body_.container(body_.oplog().container_of(last));
        const MovableState& state = home.as<MovableBody>().latest({body_, home});
        const std::uint32_t number = state.number_of(last);
        const bool is_shown = &home == &to && state.slots().is_shown(number);
        // The spans made it, so taking them back deletes it.
        if (element.made) {
            if (is_shown) {
                const SlotTree& slots = state.slots();
                to.as<MovableBody>().erase({body_, to}, slots.slot_index(slots.index_of(number)),
                                           1);
                ++undone_.removed;
            } else if (element.deleted == 0) {
                ++undone_.skipped;
            }
            continue;
        }
        // Moves and sets are registers of their own: the last one decides.
        const MovableState::Element now = state.element(number);
        if (is_ours(element.moves, now.slot)) element.moves.shown = now.slot;
        if (is_ours(element.sets, now.value)) element.sets.shown = now.value;
        Lv place = kNoLv;
        if (!element.moves.writes.empty() &&
            (element.deleted > 0 || is_ours(element.moves, now.slot))) {
            place = before(c, made, element.moves, RunKind::move);
        }
        Lv value = now.value;
        if (!element.sets.writes.empty() && is_ours(element.sets, now.value))
            value = before(c, made, element.sets, RunKind::element_set);
        if (value == kNoLv) value = now.value;
        // An element that is shown is moved and set; one that is gone is made anew, unless others
        // deleted it too.
        if (is_shown) {
            if (place != kNoLv)
                steps.push_back({Piece{body_.oplog().container_of(place), place, 1}, last, kNoLv});
            if (value != now.value) sets.emplace_back(last, value);
            if (place == kNoLv && value == now.value) ++undone_.skipped;
            continue;
        }
        const bool by_spans_alone =
            element.deleted > 0 && &home == &c &&
            order_of({body_, c}).place_of(now.slot).erased == element.deleted;
        if (element.deleted == 0 || (!by_spans_alone && !options_.shared_deletes)) {
            ++undone_.skipped;
            continue;
        }
        if (place == kNoLv) place = &home == &c ? now.slot : element.slot;
        steps.push_back({Piece{body_.oplog().container_of(place), place, 1}, kNoLv, value});
    }
    // Slots of a copy have no place in the order of the original's.
    std::erase_if(steps, [&](const MovableStep& step) { return step.piece.container != c.index; });
    std::sort(steps.begin(), steps.end(), [&](const MovableStep& a, const MovableStep& b) {
        return order_of({body_, c}).before(a.piece.lv, b.piece.lv);
    });
    return way;
}

void Reversal::go_back(Container& c, Container& to, const MovableWayBack& way) {
    const auto& [steps, sets] = way;
    Placing placing(body_, to);
    for (const MovableStep& step : steps) {
        const std::uint32_t pos = placing.spot(step.piece).pos;
        const Lv made = body_.oplog().end();
        ++undone_.restored;
        if (step.made == kNoLv) {
            const Slot slot = *body_.slot_of(step.value);
            to.sequence()->insert_value({body_, to}, pos, slot);
            stand_ins_.atoms.add(element_of(c, step.piece.lv), made, 1);
            stand_ins_.values.add(step.value, made, 1);
            stand_ins_.slots.add(step.piece.lv, made, 1);
            copy_slot(slot, step.value, made);
            continue;
        }
        const MovableState& state = to.as<MovableBody>().latest({body_, to});
        const std::uint32_t number = state.number_of(step.made);
        const std::uint32_t from = state.slots().slot_index(state.slots().index_of(number));
        // The place was found with the old slot in the list; a move counts without it.
        to.as<MovableBody>().move({body_, to}, from, from < pos ? pos - 1 : pos, number);
        stand_ins_.slots.add(step.piece.lv, made, 1);
    }
    for (const auto& [element, write] : sets) {
        const Slot slot = *body_.slot_of(write);
        auto& list = to.as<MovableBody>();
        const std::uint32_t number = list.latest({body_, to}).number_of(element);
        const Lv made = list.set({body_, to}, number, slot);
        stand_ins_.values.add(write, made, 1);
        ++undone_.restored;
        copy_slot(slot, write, made);
    }
}

// The new elements stand for the old ones in all three respects: as elements, by their values and
// by their places.
void Reversal::copy_movable(Container& from, Container& to, int depth) {
    for (const MovableItem& item : from.as<MovableBody>().items({body_, from}, nullptr)) {
        const Slot slot = *body_.slot_of(item.value);
        const Lv made = body_.oplog().end();
        to.sequence()->insert_value({body_, to}, to.sequence()->size, slot);
        stand_ins_.atoms.add(element_of(from, item.slot), made, 1);
        stand_ins_.values.add(item.value, made, 1);
        stand_ins_.slots.add(item.slot, made, 1);
        copy_slot(slot, item.value, made, depth);
    }
}

// If the sum is still what the spans made it, it becomes again what it was before them, to the last
// digit. Otherwise others have added since: the spans' additions are subtracted. O(additions).
void Reversal::counter(Container& c) {
    Container* to = living(c);
    if (to == nullptr) return;
    double taken = 0;   // The sum of the spans' additions.
    double before = 0;  // The counter before the first and after the last of them.
    double after = 0;
    double running = 0;
    bool began = false;
    bool is_mixed = false;  // Others added between them.
    bool others_came = false;
    for (const auto& [lv, delta] : CounterBody::additions(*c.log, {0, body_.oplog().end()})) {
        const bool ours = holds(lv).first;
        if (ours && !began) before = running;
        if (ours) is_mixed = is_mixed || others_came;
        if (!ours && began) others_came = true;
        running += delta;
        if (!ours) continue;
        began = true;
        taken += delta;
        after = running;
    }
    if (!began) return;
    const Site site{body_, *to};
    const double now = to->as<CounterBody>().total(site, nullptr);
    const bool is_exact = to == &c && !is_mixed && now == after;
    if (is_exact ? now == before : taken == 0) return;
    if (is_exact) {
        CounterBody::bring_to(site, now, before);
    } else {
        CounterBody::add(site, -taken);
    }
    ++undone_.restored;
}

}  // namespace quire::crdt
