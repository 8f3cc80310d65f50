// Local edits of movable lists, and reading them: indexes that readers see, turned into positions
// among slots.
#include "crdt/doc/movable_list.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/values.h"
#include "crdt/state/movable_state.h"

namespace quire::crdt {

// --- reading ---

std::size_t MovableListView::size() const {
    return container().as<MovableBody>().shown_size(site());
}

namespace {

MovableItem item_at(Site site, std::size_t index) {
    auto& list = site.container.as<MovableBody>();
    if (site.document.at() != nullptr) {
        CHECK(index < list.shown(site).size());
        return list.shown(site)[index];
    }
    const MovableState& state = list.latest(site);
    const SlotTree::Slot slot = state.slots().shown_at(static_cast<std::uint32_t>(index));
    return {slot.lv, state.element(slot.element).value};
}

}  // namespace

Item MovableListView::get(std::size_t index) const {
    const Lv value = item_at(site(), index).value;
    return slot_item(body(), *body().slot_of(value), value);
}

OpId MovableListView::id(std::size_t index) const {
    const Lv slot = item_at(site(), index).slot;
    return body().oplog().atoms().id_of(slot);
}

std::optional<std::size_t> MovableListView::index_of(OpId id) const {
    Container& c = container();
    const std::optional<Lv> lv = body().oplog().atoms().lv_of(id);
    auto* list = std::get_if<MovableBody>(&c.body);
    if (!lv || list == nullptr || body().oplog().container_of(*lv) != c.index) return std::nullopt;
    if (body().at() != nullptr) {
        const auto& items = list->shown(site());
        const auto at = std::find_if(items.begin(), items.end(),
                                     [&](const auto& item) { return item.slot == *lv; });
        if (at == items.end()) return std::nullopt;
        return static_cast<std::size_t>(at - items.begin());
    }
    return list->index_of(site(), *lv);
}

// --- local edits ---

namespace {

// Returns the atom that was written.
Result<Lv> insert_slot(DocBody& body, Handle list, std::size_t at, Slot slot) {
    Container* c = body.editable(list, ContainerKind::movable_list);
    if (c == nullptr) return body.refuse(list, ContainerKind::movable_list);
    const Site site{body, *c};
    auto& elements = c->as<MovableBody>();
    const SlotTree& slots = elements.latest(site).slots();
    if (at > slots.shown()) return beyond(at, slots.shown());
    if (elements.size >= kMaxSize) return too_large();
    const Lv lv = body.oplog().end();
    // Before what is at the index now; at the end, behind every slot.
    elements.insert_value(site, slots.slot_index(static_cast<std::uint32_t>(at)), std::move(slot));
    return lv;
}

Result<Lv> set_slot(DocBody& body, Handle list, std::size_t at, Slot value) {
    Container* c = body.editable(list, ContainerKind::movable_list);
    if (c == nullptr) return body.refuse(list, ContainerKind::movable_list);
    const Site site{body, *c};
    auto& elements = c->as<MovableBody>();
    const SlotTree& slots = elements.latest(site).slots();
    if (at >= slots.shown()) return beyond(at, slots.shown());
    return elements.set(site, slots.shown_at(static_cast<std::uint32_t>(at)).element,
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
    auto& elements = c->as<MovableBody>();
    const SlotTree& slots = elements.latest(site()).slots();
    if (from >= slots.shown() || to >= slots.shown())
        return beyond(std::max(from, to), slots.shown());
    if (from == to) return {};
    if (elements.size >= kMaxSize) return too_large();
    // Once its own slot is gone, what stood at `to` is before it or behind it as it should be.
    elements.move(site(), slots.slot_index(static_cast<std::uint32_t>(from)),
                  slots.slot_index(static_cast<std::uint32_t>(to)),
                  slots.shown_at(static_cast<std::uint32_t>(from)).element);
    return {};
}

Result<void> MovableListView::erase(std::size_t at, std::size_t count) {
    Container* c = body().editable(handle(), ContainerKind::movable_list);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::movable_list);
    auto& elements = c->as<MovableBody>();
    const SlotTree& slots = elements.latest(site()).slots();
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
    for (const Gone& part : gone) elements.erase(site(), part.pos, part.len);
    return {};
}

}  // namespace quire::crdt
