// Local edits of movable lists, and reading them: indexes that readers see, turned into positions
// among slots.
#include "crdt/doc/movable_list.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/movable_body.h"

namespace quire::crdt {

void DocBody::movable_move(Container& c, std::uint32_t from, std::uint32_t to,
                           std::uint32_t number) {
    const Lv made = movable(c).element(number).made;
    begin();
    log_of(c).move(log_.end(), from, to, made, true);
    log_.append(c.index, 1);
}

Lv DocBody::movable_set(Container& c, std::uint32_t number, Slot value) {
    const Lv made = movable(c).element(number).made;
    begin();
    const Lv lv = log_.end();
    log_of(c).set(lv, made, std::move(value), true);
    log_.append(c.index, 1);
    ++epoch_;
    return lv;
}

// Where the slot that this atom made shows an element; none when it shows none, or made none.
std::optional<std::uint32_t> DocBody::movable_index_of(Container& c, Lv lv) {
    const MovableState& state = movable(c);
    const RunKind kind = log_of(c).runs()[log_of(c).find(lv)].kind;
    if (kind != RunKind::insert && kind != RunKind::move) return std::nullopt;
    const std::uint32_t number = element_in(c, lv);
    if (state.element(number).slot != lv || !state.slots().is_shown(number)) return std::nullopt;
    return state.slots().index_of(number);
}

// --- reading ---

std::size_t MovableListView::size() const {
    Container& c = container();
    if (body().at() != nullptr) return body().shown_movable(c).size();
    return body().movable(c).slots().shown();
}

namespace {

MovableItem item_at(DocBody& body, Container& c, std::size_t index) {
    if (body.at() != nullptr) {
        CHECK(index < body.shown_movable(c).size());
        return body.shown_movable(c)[index];
    }
    const MovableState& state = body.movable(c);
    const SlotTree::Slot slot = state.slots().shown_at(static_cast<std::uint32_t>(index));
    return {slot.lv, state.element(slot.element).value};
}

}  // namespace

Item MovableListView::get(std::size_t index) const {
    const Lv value = item_at(body(), container(), index).value;
    return body().slot_item(*body().slot_of(value), value);
}

OpId MovableListView::id(std::size_t index) const {
    const Lv slot = item_at(body(), container(), index).slot;
    return body().oplog().atoms().id_of(slot);
}

std::optional<std::size_t> MovableListView::index_of(OpId id) const {
    Container& c = container();
    const std::optional<Lv> lv = body().oplog().atoms().lv_of(id);
    if (!lv || c.movable == nullptr || body().oplog().container_of(*lv) != c.index)
        return std::nullopt;
    if (body().at() != nullptr) {
        const auto& items = body().shown_movable(c);
        const auto at = std::find_if(items.begin(), items.end(),
                                     [&](const auto& item) { return item.slot == *lv; });
        if (at == items.end()) return std::nullopt;
        return static_cast<std::size_t>(at - items.begin());
    }
    return body().movable_index_of(c, *lv);
}

// --- local edits ---

namespace {

// The atom that was written.
Result<Lv> insert_slot(DocBody& body, Handle list, std::size_t at, Slot slot) {
    Container* c = body.editable(list, ContainerKind::movable_list);
    if (c == nullptr) return body.refuse(list, ContainerKind::movable_list);
    const SlotTree& slots = body.movable(*c).slots();
    if (at > slots.shown()) return beyond(at, slots.shown());
    if (c->size >= kMaxSize) return too_large();
    const Lv lv = body.oplog().end();
    // Before what is at the index now; at the end, behind every slot.
    body.insert_values(*c, slots.slot_index(static_cast<std::uint32_t>(at)), {std::move(slot)});
    return lv;
}

Result<Lv> set_slot(DocBody& body, Handle list, std::size_t at, Slot value) {
    Container* c = body.editable(list, ContainerKind::movable_list);
    if (c == nullptr) return body.refuse(list, ContainerKind::movable_list);
    const SlotTree& slots = body.movable(*c).slots();
    if (at >= slots.shown()) return beyond(at, slots.shown());
    return body.movable_set(*c, slots.shown_at(static_cast<std::uint32_t>(at)).element,
                            std::move(value));
}

}  // namespace

Result<void> MovableListView::insert(std::size_t at, Value value) {
    TRY(insert_slot(body(), handle(), at, Slot(std::move(value))));
    return {};
}

Result<ContainerId> MovableListView::insert_container(std::size_t at, ContainerKind kind) {
    const Lv lv = TRY(insert_slot(body(), handle(), at, Slot(kind)));
    return body().child_id(lv, kind);
}

Result<void> MovableListView::set(std::size_t at, Value value) {
    TRY(set_slot(body(), handle(), at, Slot(std::move(value))));
    return {};
}

Result<ContainerId> MovableListView::set_container(std::size_t at, ContainerKind kind) {
    const Lv lv = TRY(set_slot(body(), handle(), at, Slot(kind)));
    return body().child_id(lv, kind);
}

Result<void> MovableListView::move(std::size_t from, std::size_t to) {
    Container* c = body().editable(handle(), ContainerKind::movable_list);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::movable_list);
    const SlotTree& slots = body().movable(*c).slots();
    if (from >= slots.shown() || to >= slots.shown())
        return beyond(std::max(from, to), slots.shown());
    if (from == to) return {};
    if (c->size >= kMaxSize) return too_large();
    // Once its own slot is gone, what stood at `to` is before it or behind it as it should be.
    body().movable_move(*c, slots.slot_index(static_cast<std::uint32_t>(from)),
                        slots.slot_index(static_cast<std::uint32_t>(to)),
                        slots.shown_at(static_cast<std::uint32_t>(from)).element);
    return {};
}

Result<void> MovableListView::erase(std::size_t at, std::size_t count) {
    Container* c = body().editable(handle(), ContainerKind::movable_list);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::movable_list);
    const SlotTree& slots = body().movable(*c).slots();
    if (at > slots.shown() || count > slots.shown() - at) return beyond(at + count, slots.shown());
    // Slots that show nothing stay: the stretches between them go, each counted without those
    // before it.
    struct Gone {
        std::uint32_t pos;
        std::uint32_t len;
    };
    std::vector<Gone> gone;
    for (std::uint32_t done = 0; done < count; ++done) {
        const std::uint32_t pos = slots.slot_index(static_cast<std::uint32_t>(at) + done) - done;
        if (!gone.empty() && gone.back().pos == pos) {
            ++gone.back().len;
        } else {
            gone.push_back({pos, 1});
        }
    }
    for (const Gone& part : gone) body().erase(*c, part.pos, part.len);
    return {};
}

}  // namespace quire::crdt
