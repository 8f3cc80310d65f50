// List edits become ops at positions at once; the order of atoms follows when something needs it
// (DocBody::sequence). Reading an index finds its atom, whose value stays in the log: O(log n).
#include "crdt/doc/list.h"

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/limits.h"

namespace quire::crdt {

std::size_t ListView::size() const {
    Container& c = container();
    return body().at() == nullptr ? c.size : body().shown_list(c).size();
}

Slot ListView::get(std::size_t index) const {
    CHECK(index < size());
    return *body().slot_of(body().list_atom(container(), index));
}

ContainerId ListView::child(std::size_t index) const {
    CHECK(index < size());
    const Lv lv = body().list_atom(container(), index);
    const Slot& slot = *body().slot_of(lv);
    CHECK(std::holds_alternative<ContainerKind>(slot));
    return body().child_id(lv, std::get<ContainerKind>(slot));
}

OpId ListView::id(std::size_t index) const {
    CHECK(index < size());
    return body().oplog().atoms().id_of(body().list_atom(container(), index));
}

std::optional<std::size_t> ListView::index_of(OpId id) const {
    Container& c = container();
    const std::optional<Lv> lv = body().oplog().atoms().lv_of(id);
    if (!lv || body().oplog().container_of(*lv) != c.index || body().slot_of(*lv) == nullptr)
        return std::nullopt;
    if (body().at() != nullptr) {
        const std::vector<Lv>& atoms = body().shown_list(c);
        const auto at = std::find(atoms.begin(), atoms.end(), *lv);
        if (at == atoms.end()) return std::nullopt;
        return static_cast<std::size_t>(at - atoms.begin());
    }
    const Sequence::Place place = body().sequence(c).place_of(*lv);
    if (place.erased > 0) return std::nullopt;
    return place.pos;
}

Result<void> ListView::insert(std::size_t at, Value value) {
    Container* c = body().editable(handle(), ContainerKind::list);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::list);
    if (at > c->size) return beyond(at, c->size);
    if (c->size >= kMaxSize) return too_large();
    body().insert_values(*c, static_cast<std::uint32_t>(at), {Slot(std::move(value))});
    return {};
}

Result<ContainerId> ListView::insert_container(std::size_t at, ContainerKind kind) {
    Container* c = body().editable(handle(), ContainerKind::list);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::list);
    if (at > c->size) return beyond(at, c->size);
    if (c->size >= kMaxSize) return too_large();
    const Lv lv = body().oplog().end();
    body().insert_values(*c, static_cast<std::uint32_t>(at), {Slot(kind)});
    return body().child_id(lv, kind);
}

Result<void> ListView::erase(std::size_t at, std::size_t count) {
    Container* c = body().editable(handle(), ContainerKind::list);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::list);
    if (at > c->size || count > c->size - at) return beyond(at + count, c->size);
    if (count > 0)
        body().erase(*c, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(count));
    return {};
}

}  // namespace quire::crdt
