// How a movable list's state follows its log, reading it, and what ops did to it.
//
// The order that the sequence keeps has every slot, deleted ones included. The state has those that
// are visible, each with the element that it shows, and each element with its winners; it follows
// the log op by op, O(log n) each. A version that is not the latest finds its winners in the log.
//
//     insert   makes an element, its first slot and its first value, all by one atom
//     move     makes another slot for the element; the greatest (lamport, peer) is its place
//     set      gives the element another value; the greatest (lamport, peer) is its value
//     erase    deletes a slot, and with it the element if that is where the element stands
//
// A slot is shown if it is visible and its element's winning one. So two concurrent moves leave one
// shown slot and one that is visible in the order and shows nothing.
#include "crdt/doc/movable_body.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/values.h"
#include "crdt/doc/view.h"
#include "crdt/merge/sequence.h"
#include "crdt/state/movable_state.h"

namespace quire::crdt {

// The state, and what the last transaction or import found when it came to it.
struct MovableBody::Kept {
    MovableState state;
    // An element that was there before, as it stood when an op of the last transaction or import
    // changed it.
    struct Before {
        Lv lv;
        std::uint32_t number;
        MovableState::Element element;
        bool shown;
    };
    std::vector<Before> before;  // In order. An element is there as often as it was changed.
};

MovableBody::MovableBody() : kept_(std::make_unique<Kept>()) {}
MovableBody::~MovableBody() = default;

void MovableBody::copy_from(const MovableBody& other) {
    SequenceBody::copy_from(other);
    followed = other.followed;
    kept_ = std::make_unique<Kept>(*other.kept_);
}

// Elements are noted as they were before the transaction or import only while its ops are taken in,
// because delta_of() asks for nothing earlier. Notes of an earlier transaction go as soon as new
// ops come.
MovableState& MovableBody::latest(Site site) {
    const auto& runs = site.container.log->runs();
    auto& before = kept_->before;
    // The last run may have grown since.
    if (followed.run > 0 && runs[followed.run - 1].end() > followed.end) --followed.run;
    if (followed.run < runs.size() && !before.empty() &&
        before.front().lv < site.document.journal().began()) {
        before.clear();
    }
    for (; followed.run < runs.size(); ++followed.run) {
        const Run& run = runs[followed.run];
        apply(site, run, {std::max(run.lv, followed.end), run.end()});
        followed.end = run.end();
    }
    if (followed.effect > 0) {
        CHECK(followed.effect == effects.size());
        effects.clear();
        followed.effect = 0;
    }
    return kept_->state;
}

// Takes the atoms `span` of a run into the state. A linear run is played at its own positions. Any
// other has left effects, which give the positions that the merge found; those are consumed in step
// with the runs.
void MovableBody::apply(Site site, const Run& run, LvSpan span) {
    MovableState& state = kept_->state;
    const OpLog& oplog = site.document.oplog();
    const Lv began = site.document.journal().began();
    const auto note = [&](std::uint32_t number) {
        const MovableState::Element& element = state.element(number);
        if (span.begin < began || element.made >= began) return;
        kept_->before.push_back({span.begin, number, element, state.slots().is_shown(number)});
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
        // A linear move knew every earlier write to the element, so it outranks them all.
        state.move(at, lv, number, run.linear || oplog.outranks(lv, state.element(number).slot));
    };

    if (run.kind == RunKind::element_set) {
        const std::uint32_t number = state.number_of(run.extra);
        if (!oplog.outranks(run.lv, state.element(number).value)) return;
        note(number);
        state.set(number, run.lv);
    } else if (!run.in_sequence()) {
        // An op that is only carried shows nothing.
    } else if (!run.linear) {
        for (; followed.effect < effects.size() && effects[followed.effect].lv < span.end;
             ++followed.effect) {
            const Effect& effect = effects[followed.effect];
            for (std::uint32_t i = 0; i < effect.len; ++i) {
                if (effect.erase) {
                    erase(effect.pos);
                } else {
                    put(effect.pos + i, effect.lv + i);
                }
            }
        }
    } else if (run.kind == RunKind::move) {
        // The target counts the slots without the one that is left, so the erase comes first.
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

std::uint32_t MovableBody::element_in(Site site, Lv slot) const {
    const ContainerLog& log = *site.container.log;
    const Run& run = log.runs()[log.find(slot)];
    return kept_->state.number_of(run.kind == RunKind::move ? run.extra : slot);
}

// --- values ---

// Goes over all ops of the container that the version holds. An insert needs no comparison: atoms
// are numbered after everything they depend on, so it is met before any move or set of its element.
std::vector<MovableItem> MovableBody::winners(Site site, const Past& at) {
    const MovableState& state = latest(site);
    const OpLog& oplog = site.document.oplog();
    const ContainerLog& log = *site.container.log;
    const auto& runs = log.runs();
    std::vector<MovableItem> winners(state.element_count(), {kNoLv, kNoLv});
    const auto write = [&](Lv& winner, Lv lv) {
        if (winner == kNoLv || oplog.outranks(lv, winner)) winner = lv;
    };
    for (const LvSpan& span : at.spans()) {
        for (std::size_t i = log.find(span.begin); i < runs.size() && runs[i].lv < span.end; ++i) {
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

std::vector<MovableItem> MovableBody::items(Site site, const Past* at) {
    std::vector<MovableItem> items;
    const MovableState& state = latest(site);
    if (at == nullptr) {
        items.reserve(state.slots().shown());
        state.slots().for_each([&](const SlotTree::Slot& slot) {
            if (slot.is_shown()) items.push_back({slot.lv, state.element(slot.element).value});
        });
        return items;
    }
    const std::vector<MovableItem> winners = this->winners(site, *at);
    Sequence& sequence = order_at(site, at->heads());
    sequence.for_each_now([&](Lv lv, std::uint32_t len) {
        for (Lv slot = lv; slot < lv + len; ++slot) {
            // A slot that another move has outranked is visible and shows nothing.
            const MovableItem& winner = winners[element_in(site, slot)];
            if (winner.slot == slot) items.push_back(winner);
        }
    });
    return items;
}

const std::vector<MovableItem>& MovableBody::shown(Site site) {
    View* view = site.document.view();
    CHECK(view != nullptr);
    const auto known = view->movable.find(site.container.index);
    if (known != view->movable.end()) return known->second;
    return view->movable.emplace(site.container.index, items(site, &view->past)).first->second;
}

Value MovableBody::value(Site site, int depth, const Past* at) {
    DocBody& document = site.document;
    List list;
    for (const MovableItem& item : items(site, at))
        list.push_back(slot_value(document, *document.slot_of(item.value), item.value, depth, at));
    return list;
}

// --- positions ---

std::size_t MovableBody::shown_size(Site site) {
    return site.document.at() == nullptr ? latest(site).slots().shown() : shown(site).size();
}

Lv MovableBody::anchor_at(Site site, std::size_t pos) {
    if (site.document.at() != nullptr) return shown(site)[pos].slot;
    return latest(site).slots().shown_at(static_cast<std::uint32_t>(pos)).lv;
}

std::pair<std::size_t, bool> MovableBody::place_of(Site site, Lv anchor) {
    if (site.document.at() == nullptr) {
        if (const auto index = index_of(site, anchor)) return {*index, true};
        // A slot whose element was placed elsewhere by another move is still there, unseen.
        const Sequence::Place place = order(site).place_of(anchor);
        return {latest(site).slots().shown_before(place.pos), place.erased == 0};
    }
    // The slot itself may be deleted or outranked at this version, so the shown ones before it are
    // counted: O(elements) comparisons in the order.
    Sequence& sequence = order_at(site, shown_heads(site.document));
    std::size_t pos = 0;
    for (const MovableItem& item : shown(site)) {
        if (sequence.before(item.slot, anchor)) ++pos;
    }
    return {pos, sequence.is_visible(anchor)};
}

std::optional<std::uint32_t> MovableBody::index_of(Site site, Lv lv) {
    const MovableState& state = latest(site);
    const ContainerLog& log = *site.container.log;
    const RunKind kind = log.runs()[log.find(lv)].kind;
    if (kind != RunKind::insert && kind != RunKind::move) return std::nullopt;
    const std::uint32_t number = element_in(site, lv);
    if (state.element(number).slot != lv || !state.slots().is_shown(number)) return std::nullopt;
    return state.slots().index_of(number);
}

// --- children ---

bool MovableBody::holds_child(Site site, Lv creator) {
    const MovableState& state = latest(site);
    const ContainerLog& log = *site.container.log;
    const Run& run = log.runs()[log.find(creator)];
    const std::uint32_t number = state.number_of(run.kind == RunKind::insert ? creator : run.extra);
    return state.element(number).value == creator && state.slots().is_shown(number);
}

bool MovableBody::holds_child(Site site, Lv creator, Reach& reach) {
    // One walk over the list answers for all its children: finding a single one would cost as much.
    const auto [known, is_new] = reach.shown.try_emplace(site.container.index);
    if (is_new) {
        for (const MovableItem& item : items(site, reach.at)) known->second.insert(item.value);
    }
    return known->second.contains(creator);
}

PathStep MovableBody::step_to(Site site, Lv creator) {
    std::size_t index = 0;
    for (const MovableItem& item : items(site, site.document.at())) {
        if (item.value == creator) break;
        ++index;
    }
    return index;
}

// --- differences ---

ListDelta MovableBody::delta_from_nothing(Site site, const Past* at) {
    const DocBody& document = site.document;
    ListDelta delta;
    for (const MovableItem& item : items(site, at))
        put(delta, slot_item(document, *document.slot_of(item.value), item.value));
    return delta;
}

// Slots are compared one by one in the order, which all versions share. An element that moved is
// told as removed at its old slot and put at its new one. A set to an equal value is no difference.
ListDelta MovableBody::delta_between(Site site, const Past& a, const Past& b) {
    const auto item_of = [&](Lv lv) {
        return slot_item(site.document, *site.document.slot_of(lv), lv);
    };
    const std::vector<MovableItem> in_a = winners(site, a);
    const std::vector<MovableItem> in_b = winners(site, b);
    ListDelta delta;
    for (const Compared& part : compare(site, a, b)) {
        for (Lv slot = part.lv; slot < part.lv + part.len; ++slot) {
            const std::uint32_t number = element_in(site, slot);
            const bool was_there = part.in_a && in_a[number].slot == slot;
            const bool is_there = part.in_b && in_b[number].slot == slot;
            const Lv before = in_a[number].value;
            const Lv after = in_b[number].value;
            if (was_there && is_there && (before == after || item_of(before) == item_of(after))) {
                crdt::retain(delta, 1);
                continue;
            }
            if (was_there) crdt::erase(delta, 1);
            if (is_there) put(delta, item_of(after));
        }
    }
    finish(delta);
    return delta;
}

// The elements that were touched are looked up in the state as it is. A slot that no longer shows
// its element finds its place among those that do by the order, which has deleted slots too.
//
// New elements are those that the span's inserts made. Older ones are in `before`, and their first
// note of this transaction or import says how they stood before it. Each element yields up to two
// steps, a removal and a placement, at indexes of the list as it is now; sorted, they become the
// delta. O(touched elements · log n).
ListDelta MovableBody::delta_of(Site site, LvSpan span, const Past&, const Past&) {
    const MovableState& state = latest(site);
    const ContainerLog& log = *site.container.log;
    const auto item_of = [&](Lv lv) {
        return slot_item(site.document, *site.document.slot_of(lv), lv);
    };
    struct Step {
        std::uint32_t at;     // An index of the list as it is.
        bool puts;            // False: the element that was before that place goes.
        std::uint32_t value;  // The atom of the value that comes.
        bool operator<(const Step& other) const {
            return at != other.at ? at < other.at : !puts && other.puts;
        }
    };
    std::vector<Step> steps;
    const auto compare_with = [&](std::uint32_t number, const Kept::Before* before) {
        const MovableState::Element& now = state.element(number);
        const bool is_there = state.slots().is_shown(number);
        const bool was_there = before != nullptr && before->shown;
        if (was_there && is_there && before->element.slot == now.slot) {
            const Lv old = before->element.value;
            if (old == now.value || item_of(old) == item_of(now.value)) return;
        }
        if (was_there) {
            const std::uint32_t pos = order(site).place_of(before->element.slot).pos;
            steps.push_back({state.slots().shown_before(pos), false, 0});
        }
        if (is_there) steps.push_back({state.slots().index_of(number), true, now.value});
    };
    const auto& runs = log.runs();
    for (std::size_t i = log.find(span.begin); i < runs.size(); ++i) {
        if (runs[i].kind != RunKind::insert) continue;
        for (Lv lv = std::max(runs[i].lv, span.begin); lv < runs[i].end(); ++lv)
            compare_with(state.number_of(lv), nullptr);
    }
    std::vector<const Kept::Before*> firsts;
    for (const Kept::Before& before : kept_->before) firsts.push_back(&before);
    std::stable_sort(firsts.begin(), firsts.end(),
                     [](const auto* a, const auto* b) { return a->number < b->number; });
    for (std::size_t i = 0; i < firsts.size(); ++i) {
        // Later notes of an element tell how it stood between two ops, which nobody saw.
        if (i == 0 || firsts[i - 1]->number != firsts[i]->number)
            compare_with(firsts[i]->number, firsts[i]);
    }
    std::sort(steps.begin(), steps.end());

    ListDelta delta;
    std::uint32_t at = 0;
    for (const Step& step : steps) {
        // A removal is put where the element would stand now, and takes no room there.
        crdt::retain(delta, step.at - at);
        at = step.at;
        if (step.puts) {
            put(delta, item_of(step.value));
            ++at;
        } else {
            crdt::erase(delta, 1);
        }
    }
    finish(delta);
    return delta;
}

// --- local ops ---

void MovableBody::move(Site site, std::uint32_t from, std::uint32_t to, std::uint32_t number) {
    const Lv made = latest(site).element(number).made;
    OpLog& log = site.document.journal().begin();
    site.container.log->move(log.end(), from, to, made, true);
    log.append(site.container.index, 1);
}

Lv MovableBody::set(Site site, std::uint32_t number, Slot value) {
    const Lv made = latest(site).element(number).made;
    OpLog& log = site.document.journal().begin();
    const Lv lv = log.end();
    site.container.log->set(lv, made, std::move(value), true);
    log.append(site.container.index, 1);
    site.document.outdate_reach();
    return lv;
}

// --- promises ---

// The state is what the rules make of the log, all at once.
void MovableBody::check(Site site) {
    check_order(site);
    const MovableState& state = latest(site);
    state.check_invariants();
    const OpLog& log = site.document.oplog();
    const std::vector<MovableItem> winners = this->winners(site, Past(log.end(), log.heads()));
    for (std::uint32_t number = 0; number < state.element_count(); ++number) {
        CHECK(state.element(number).slot == winners[number].slot);
        CHECK(state.element(number).value == winners[number].value);
    }
    std::vector<SlotTree::Slot> expected;
    order(site).for_each_last([&](Lv lv, std::uint32_t len, bool visible) {
        for (Lv slot = lv; visible && slot < lv + len; ++slot) {
            const std::uint32_t number = element_in(site, slot);
            expected.push_back({slot, winners[number].slot == slot ? number : SlotTree::kNone});
        }
    });
    std::vector<SlotTree::Slot> found;
    state.slots().for_each([&](const SlotTree::Slot& slot) { found.push_back(slot); });
    CHECK(found == expected);
}

}  // namespace quire::crdt
