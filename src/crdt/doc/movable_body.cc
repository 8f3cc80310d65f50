// Movable lists: how the state follows the log, what it is worth, and what ops did to it.
//
// The sequence orders slots; an insert or a move makes one. Which slot and which value an element
// has is decided among all writes to it by (lamport, peer).
#include "crdt/doc/movable_body.h"

#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

MovableState& DocBody::movable(Container& c) {
    CHECK(c.movable != nullptr);
    const auto& runs = log_of(c).runs();
    auto& before = c.movable->before;
    // The last run may have grown since.
    if (c.flushed_run > 0 && runs[c.flushed_run - 1].end() > c.flushed) --c.flushed_run;
    if (c.flushed_run < runs.size() && !before.empty() && before.front().lv < began_)
        before.clear();
    for (; c.flushed_run < runs.size(); ++c.flushed_run) {
        const Run& run = runs[c.flushed_run];
        apply_movable(c, run, {std::max(run.lv, c.flushed), run.end()});
        c.flushed = run.end();
    }
    if (c.next_effect > 0) {
        CHECK(c.next_effect == c.effects.size());
        c.effects.clear();
        c.next_effect = 0;
    }
    return c.movable->state;
}

void DocBody::apply_movable(Container& c, const Run& run, LvSpan span) {
    MovableState& state = c.movable->state;
    const auto note = [&](std::uint32_t number) {
        const MovableState::Element& element = state.element(number);
        if (span.begin < began_ || element.made >= began_) return;
        c.movable->before.push_back({span.begin, number, element, state.slots().is_shown(number)});
    };
    const auto erase = [&](std::uint32_t at) {
        const SlotTree::Slot slot = state.slots().at(at);
        if (slot.is_shown()) note(slot.element);
        state.erase(at);
    };
    const auto put = [&](std::uint32_t at, Lv lv) {
        if (run.kind == RunKind::insert) {
            state.insert(at, lv);
            return;
        }
        const std::uint32_t number = state.number_of(run.extra);
        note(number);
        state.move(at, lv, number, run.linear || log_.outranks(lv, state.element(number).slot));
    };

    if (run.kind == RunKind::element_set) {
        const std::uint32_t number = state.number_of(run.extra);
        if (!log_.outranks(run.lv, state.element(number).value)) return;
        note(number);
        state.set(number, run.lv);
    } else if (!run.in_sequence()) {
        // Carried; nothing to see.
    } else if (!run.linear) {
        for (; c.next_effect < c.effects.size() && c.effects[c.next_effect].lv < span.end;
             ++c.next_effect) {
            const Effect& effect = c.effects[c.next_effect];
            for (std::uint32_t i = 0; i < effect.len; ++i) {
                if (effect.erase) {
                    erase(effect.pos);
                } else {
                    put(effect.pos + i, effect.lv + i);
                }
            }
        }
    } else if (run.kind == RunKind::move) {
        erase(run.pos);
        put(run.payload, run.lv);
    } else {
        for (Lv lv = span.begin; lv < span.end; ++lv) {
            const std::uint32_t done = lv - run.lv;
            if (run.kind == RunKind::insert) {
                put(run.pos + done, lv);
            } else {
                erase(run.kind == RunKind::erase_forward ? run.pos : run.pos - done);
            }
        }
    }
}

bool DocBody::is_shown(Container& c, Lv value) {
    const MovableState& state = movable(c);
    const Run& run = log_of(c).runs()[log_of(c).find(value)];
    const std::uint32_t number = state.number_of(run.kind == RunKind::insert ? value : run.extra);
    return state.element(number).value == value && state.slots().is_shown(number);
}

// The element that a slot was made for.
std::uint32_t DocBody::element_in(Container& c, Lv slot) {
    const Run& run = log_of(c).runs()[log_of(c).find(slot)];
    return c.movable->state.number_of(run.kind == RunKind::move ? run.extra : slot);
}

// --- values ---

std::vector<MovableItem> DocBody::movable_winners(Container& c, const Past& at) {
    const MovableState& state = movable(c);
    const auto& runs = log_of(c).runs();
    std::vector<MovableItem> winners(state.element_count(), {kNoLv, kNoLv});
    const auto write = [&](Lv& winner, Lv lv) {
        if (winner == kNoLv || log_.outranks(lv, winner)) winner = lv;
    };
    for (const LvSpan& span : at.spans()) {
        for (std::size_t i = log_of(c).find(span.begin); i < runs.size() && runs[i].lv < span.end;
             ++i) {
            const Run& run = runs[i];
            if (run.kind == RunKind::insert) {
                const Lv end = std::min(run.end(), span.end);
                for (Lv lv = std::max(run.lv, span.begin); lv < end; ++lv)
                    winners[state.number_of(lv)] = {lv, lv};
            } else if (run.kind == RunKind::move) {
                write(winners[state.number_of(run.extra)].slot, run.lv);
            } else if (run.kind == RunKind::element_set) {
                write(winners[state.number_of(run.extra)].value, run.lv);
            }
        }
    }
    return winners;
}

std::vector<MovableItem> DocBody::movable_items(Container& c, const Past* at) {
    std::vector<MovableItem> items;
    const MovableState& state = movable(c);
    if (at == nullptr) {
        items.reserve(state.slots().shown());
        state.slots().for_each([&](const SlotTree::Slot& slot) {
            if (slot.is_shown()) items.push_back({slot.lv, state.element(slot.element).value});
        });
        return items;
    }
    const std::vector<MovableItem> winners = movable_winners(c, *at);
    Sequence& order = sequence(c);
    order.move_to(history(c), at->heads());
    order.for_each_now([&](Lv lv, std::uint32_t len) {
        for (Lv slot = lv; slot < lv + len; ++slot) {
            const MovableItem& winner = winners[element_in(c, slot)];
            if (winner.slot == slot) items.push_back(winner);
        }
    });
    return items;
}

Value DocBody::movable_value(Container& c, int depth, const Past* at) {
    List list;
    for (const MovableItem& item : movable_items(c, at))
        list.push_back(slot_value(*slot_of(item.value), item.value, depth, at));
    return list;
}

// --- diffs ---

ListDelta DocBody::movable_diff(Container& c, const Past& a, const Past& b) {
    const std::vector<MovableItem> in_a = movable_winners(c, a);
    const std::vector<MovableItem> in_b = movable_winners(c, b);
    ListDelta delta;
    for (const Compared& part : compare(c, a, b)) {
        for (Lv slot = part.lv; slot < part.lv + part.len; ++slot) {
            const std::uint32_t number = element_in(c, slot);
            const bool was_there = part.in_a && in_a[number].slot == slot;
            const bool is_there = part.in_b && in_b[number].slot == slot;
            const Lv before = in_a[number].value;
            const Lv after = in_b[number].value;
            if (was_there && is_there &&
                (before == after ||
                 slot_item(*slot_of(before), before) == slot_item(*slot_of(after), after))) {
                crdt::retain(delta, 1);
                continue;
            }
            if (was_there) crdt::erase(delta, 1);
            if (is_there) put(delta, slot_item(*slot_of(after), after));
        }
    }
    finish(delta);
    return delta;
}

// What the elements that were touched have become is looked up in the state as it is. A slot that
// shows its element no more has its place among those that do by the sequence, which knows
// tombstones.
ListDelta DocBody::movable_delta_of(Container& c, LvSpan span) {
    const MovableState& state = movable(c);
    struct Step {
        std::uint32_t at;     // An index of the list as it is.
        bool puts;            // Else what was before that place goes.
        std::uint32_t value;  // The atom of what comes.
        bool operator<(const Step& other) const {
            return at != other.at ? at < other.at : !puts && other.puts;
        }
    };
    std::vector<Step> steps;
    const auto compare_with = [&](std::uint32_t number, const MovableBody::Before* before) {
        const MovableState::Element& now = state.element(number);
        const bool is_there = state.slots().is_shown(number);
        const bool was_there = before != nullptr && before->shown;
        if (was_there && is_there && before->element.slot == now.slot) {
            const Lv old = before->element.value;
            if (old == now.value ||
                slot_item(*slot_of(old), old) == slot_item(*slot_of(now.value), now.value)) {
                return;
            }
        }
        if (was_there) {
            const std::uint32_t pos = sequence(c).place_of(before->element.slot).pos;
            steps.push_back({state.slots().shown_before(pos), false, 0});
        }
        if (is_there) steps.push_back({state.slots().index_of(number), true, now.value});
    };
    const auto& runs = log_of(c).runs();
    for (std::size_t i = log_of(c).find(span.begin); i < runs.size(); ++i) {
        if (runs[i].kind != RunKind::insert) continue;
        for (Lv lv = std::max(runs[i].lv, span.begin); lv < runs[i].end(); ++lv)
            compare_with(state.number_of(lv), nullptr);
    }
    std::vector<const MovableBody::Before*> firsts;
    for (const MovableBody::Before& before : c.movable->before) firsts.push_back(&before);
    std::stable_sort(firsts.begin(), firsts.end(),
                     [](const auto* a, const auto* b) { return a->number < b->number; });
    for (std::size_t i = 0; i < firsts.size(); ++i) {
        if (i == 0 || firsts[i - 1]->number != firsts[i]->number)
            compare_with(firsts[i]->number, firsts[i]);
    }
    std::sort(steps.begin(), steps.end());

    ListDelta delta;
    std::uint32_t at = 0;
    for (const Step& step : steps) {
        crdt::retain(delta, step.at - at);
        at = step.at;
        if (step.puts) {
            put(delta, slot_item(*slot_of(step.value), step.value));
            ++at;
        } else {
            crdt::erase(delta, 1);
        }
    }
    finish(delta);
    return delta;
}

// --- promises ---

// The state is what the rules make of the log, all at once.
void DocBody::check_movable(Container& c) {
    const MovableState& state = movable(c);
    state.check_invariants();
    const std::vector<MovableItem> winners = movable_winners(c, Past(log_.end(), log_.heads()));
    for (std::uint32_t number = 0; number < state.element_count(); ++number) {
        CHECK(state.element(number).slot == winners[number].slot);
        CHECK(state.element(number).value == winners[number].value);
    }
    std::vector<SlotTree::Slot> expected;
    sequence(c).for_each_last([&](Lv lv, std::uint32_t len, bool visible) {
        for (Lv slot = lv; visible && slot < lv + len; ++slot) {
            const std::uint32_t number = element_in(c, slot);
            expected.push_back({slot, winners[number].slot == slot ? number : SlotTree::kNone});
        }
    });
    std::vector<SlotTree::Slot> kept;
    state.slots().for_each([&](const SlotTree::Slot& slot) { kept.push_back(slot); });
    CHECK(kept == expected);
}

}  // namespace quire::crdt
