// Each key has its winning write in the state, which readers take. At another version the winner
// is the greatest write that the version knows (DocBody::shown_write).
#include "crdt/doc/map.h"

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/limits.h"

namespace quire::crdt {

std::optional<Slot> MapView::get(std::string_view key) const {
    const MapState::Write* write = body().shown_write(container(), key);
    if (write == nullptr) return std::nullopt;
    return *body().slot_of(write->lv);
}

std::optional<ContainerId> MapView::child(std::string_view key) const {
    const MapState::Write* write = body().shown_write(container(), key);
    if (write == nullptr) return std::nullopt;
    return body().entry_child(container(), key, write->lv);
}

std::vector<std::string> MapView::keys() const {
    std::vector<std::string> keys;
    const Container& c = container();
    if (c.map == nullptr) return keys;
    for (const auto& [key, entry] : c.map->entries()) {
        const MapState::Write* write = DocBody::map_write(entry, body().at());
        if (write != nullptr && !write->erases) keys.push_back(key);
    }
    return keys;
}

Result<void> MapView::set(std::string_view key, Value value) {
    Container* c = body().editable(handle(), ContainerKind::map);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::map);
    if (!utf8::is_valid(key))
        return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
    const MapState::Entry* entry = c->map->find(key);
    if (entry != nullptr && !entry->winner.erases) {
        const auto* now = std::get_if<Value>(body().slot_of(entry->winner.lv));
        if (now != nullptr && *now == value) return {};
    }
    body().write_map(*c, MapSet{std::string(key), std::move(value)});
    return {};
}

Result<ContainerId> MapView::insert_container(std::string_view key, ContainerKind kind) {
    Container* c = body().editable(handle(), ContainerKind::map);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::map);
    if (!utf8::is_valid(key))
        return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
    const Lv lv = body().oplog().end();
    body().write_map(*c, MapSet{std::string(key), kind});
    return body().child_id(lv, kind);
}

Result<void> MapView::erase(std::string_view key) {
    Container* c = body().editable(handle(), ContainerKind::map);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::map);
    if (!utf8::is_valid(key))
        return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
    body().write_map(*c, MapErase{std::string(key)});
    return {};
}

}  // namespace quire::crdt
