// List edits become ops at positions at once; the order of atoms follows when something needs it
// (SequenceBody::order). Reading an index finds its atom, whose value stays in the log: O(log n).
#include "crdt/doc/list.h"

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/limits.h"
#include "crdt/merge/sequence.h"

namespace quire::crdt {

std::size_t ListView::size() const {
    return container().as<ListBody>().shown_size(site());
}

Slot ListView::get(std::size_t index) const {
    CHECK(index < size());
    return *body().slot_of(container().as<ListBody>().anchor_at(site(), index));
}

ContainerId ListView::child(std::size_t index) const {
    CHECK(index < size());
    const Lv lv = container().as<ListBody>().anchor_at(site(), index);
    const Slot& slot = *body().slot_of(lv);
    CHECK(std::holds_alternative<ContainerKind>(slot));
    return body().child_id(lv, std::get<ContainerKind>(slot));
}

OpId ListView::id(std::size_t index) const {
    CHECK(index < size());
    return body().oplog().atoms().id_of(container().as<ListBody>().anchor_at(site(), index));
}

std::optional<std::size_t> ListView::index_of(OpId id) const {
    Container& c = container();
    const std::optional<Lv> lv = body().oplog().atoms().lv_of(id);
    if (!lv || body().oplog().container_of(*lv) != c.index || body().slot_of(*lv) == nullptr)
        return std::nullopt;
    auto& list = c.as<ListBody>();
    if (body().at() != nullptr) {
        const std::vector<Lv>& atoms = list.shown(site());
        const auto at = std::find(atoms.begin(), atoms.end(), *lv);
        if (at == atoms.end()) return std::nullopt;
        return static_cast<std::size_t>(at - atoms.begin());
    }
    const Sequence::Place place = list.order(site()).place_of(*lv);
    if (place.erased > 0) return std::nullopt;
    return place.pos;
}

Result<void> ListView::insert(std::size_t at, Value value) {
    Container* c = body().editable(handle(), ContainerKind::list);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::list);
    auto& list = c->as<ListBody>();
    if (at > list.size) return beyond(at, list.size);
    if (list.size >= kMaxSize) return too_large();
    list.insert_value({body(), *c}, static_cast<std::uint32_t>(at), std::move(value));
    return {};
}

Result<ContainerId> ListView::insert_container(std::size_t at, ContainerKind kind) {
    Container* c = body().editable(handle(), ContainerKind::list);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::list);
    auto& list = c->as<ListBody>();
    if (at > list.size) return beyond(at, list.size);
    if (list.size >= kMaxSize) return too_large();
    // The atom that the insert will have, which the child is named after.
    const Lv lv = body().oplog().end();
    list.insert_value({body(), *c}, static_cast<std::uint32_t>(at), kind);
    return body().child_id(lv, kind);
}

Result<void> ListView::erase(std::size_t at, std::size_t count) {
    Container* c = body().editable(handle(), ContainerKind::list);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::list);
    auto& list = c->as<ListBody>();
    if (at > list.size || count > list.size - at) return beyond(at + count, list.size);
    if (count > 0)
        list.erase(site(), static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(count));
    return {};
}

}  // namespace quire::crdt
