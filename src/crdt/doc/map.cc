// Each key has its winning write in the state, which readers take. At another version the winner
// is the greatest write that the version knows (MapBody::shown).
#include "crdt/doc/map.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/limits.h"
#include "crdt/ids/mergeable.h"

namespace quire::crdt {

namespace {

// The write that decides a key for readers; null if the key is not set, as in a container of
// another kind.
const MapState::Write* shown_write(Site site, std::string_view key) {
    const auto* map = std::get_if<MapBody>(&site.container.body);
    return map == nullptr ? nullptr : map->shown(site, key);
}

}  // namespace

std::optional<Slot> MapView::get(std::string_view key) const {
    const MapState::Write* write = shown_write(site(), key);
    if (write == nullptr) return std::nullopt;
    return *body().slot_of(write->lv);
}

std::optional<ContainerId> MapView::child(std::string_view key) const {
    const MapState::Write* write = shown_write(site(), key);
    if (write == nullptr) return std::nullopt;
    return MapBody::child(site(), key, write->lv);
}

std::vector<std::string> MapView::keys() const {
    std::vector<std::string> keys;
    const auto* map = std::get_if<MapBody>(&container().body);
    if (map == nullptr) return keys;
    map->state.for_each([&](const std::string& key, const MapState::Entry& entry) {
        const MapState::Write* write = MapBody::write_at(entry, body().at());
        if (write != nullptr && !write->erases) keys.push_back(key);
    });
    return keys;
}

Result<void> MapView::set(std::string_view key, Value value) {
    Container* c = body().editable(handle(), ContainerKind::map);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::map);
    if (!utf8::is_valid(key))
        return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
    auto& map = c->as<MapBody>();
    const MapState::Entry* entry = map.state.find(key);
    if (entry != nullptr && !entry->winner.erases) {
        const auto* now = std::get_if<Value>(body().slot_of(entry->winner.lv));
        // Setting an equal value is no op, so that it does not outrank somebody's concurrent write.
        if (now != nullptr && *now == value) return {};
    }
    map.write(site(), MapSet{std::string(key), std::move(value)});
    return {};
}

Result<ContainerId> MapView::insert_container(std::string_view key, ContainerKind kind) {
    Container* c = body().editable(handle(), ContainerKind::map);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::map);
    if (!utf8::is_valid(key))
        return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
    const Lv lv = body().oplog().end();
    c->as<MapBody>().write(site(), MapSet{std::string(key), kind});
    return body().child_id(lv, kind);
}

// The child's id follows from the map, the key and the kind, so that two peers who make it at the
// same time write to one container. A marker as the key's value shows it. The key may be free, hold
// null, or hold a mergeable child of any kind; anything else is kept and refused.
Result<ContainerId> MapView::ensure_mergeable(std::string_view key, ContainerKind kind) {
    Container* c = body().editable(handle(), ContainerKind::map);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::map);
    const Value marker = mergeable_marker(c->id, key, kind);
    const ContainerId wanted = mergeable_child(c->id, key, marker).value();
    const std::optional<Slot> now = get(key);
    const auto* const value = now ? std::get_if<Value>(&*now) : nullptr;
    const bool is_free = !now || (value != nullptr && value->is_null());
    if (!is_free && (value == nullptr || !mergeable_child(c->id, key, *value))) {
        return fail(Errc::conflict, "key_taken",
                    cat("the key ", key,
                        " holds something else than a mergeable child; nothing was changed"));
    }
    TRY(set(key, marker));
    return wanted;
}

Result<void> MapView::erase(std::string_view key) {
    Container* c = body().editable(handle(), ContainerKind::map);
    if (c == nullptr) return body().refuse(handle(), ContainerKind::map);
    if (!utf8::is_valid(key))
        return invalid("invalid_utf8", "the key is not UTF-8; nothing was changed");
    c->as<MapBody>().write(site(), MapErase{std::string(key)});
    return {};
}

}  // namespace quire::crdt
