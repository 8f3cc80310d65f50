// What containers are worth as values, now or at a version.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/ids/mergeable.h"

namespace quire::crdt {

Value DocBody::value(Container& c, int depth, const Past* at) {
    if (depth > kMaxValueDepth) return nullptr;
    switch (c.id.kind) {
        case ContainerKind::text:
            return text_value(c, at);
        case ContainerKind::list:
            return list_value(c, depth, at);
        case ContainerKind::map:
            return map_value(c, depth, at);
        case ContainerKind::movable_list:
            return movable_value(c, depth, at);
        case ContainerKind::counter:
            return counter_value(c, at);
        case ContainerKind::tree:
            return tree_value(c, depth, at);
    }
    return nullptr;
}

Value DocBody::slot_value(const Slot& slot, Lv lv, int depth, const Past* at) {
    if (const auto* value = std::get_if<Value>(&slot)) return *value;
    const ContainerIndex child = open(child_id(lv, std::get<ContainerKind>(slot)));
    return value(containers_[child], depth + 1, at);
}

Item DocBody::slot_item(const Slot& slot, Lv lv) const {
    if (const auto* value = std::get_if<Value>(&slot)) return *value;
    return child_id(lv, std::get<ContainerKind>(slot));
}

Value DocBody::text_value(Container& c, const Past* at) {
    if (at == this->at()) return shown_text(c).str();
    return at == nullptr ? text(c).str() : rope_at(c, *at).str();
}

Value DocBody::list_value(Container& c, int depth, const Past* at) {
    const ContainerLog& log = log_of(c);
    List list;
    const Run* run = nullptr;
    for (const Lv lv : list_atoms(c, at)) {
        if (run == nullptr || lv < run->lv || lv >= run->end()) run = &log.runs()[log.find(lv)];
        list.push_back(slot_value(log.value(*run, lv), lv, depth, at));
    }
    return list;
}

const MapState::Write* DocBody::map_write(const MapState::Entry& entry, const Past* at) {
    if (at == nullptr || at->contains(entry.winner.lv)) return &entry.winner;
    const MapState::Write* last = nullptr;
    for (const MapState::Write& write : entry.writes) {
        if (at->contains(write.lv) && (last == nullptr || last->loses_to(write))) last = &write;
    }
    return last;
}

Value DocBody::map_value(Container& c, int depth, const Past* at) {
    Map map;
    for (const auto& [key, entry] : c.map->entries()) {
        const MapState::Write* write = map_write(entry, at);
        if (write == nullptr || write->erases) continue;
        const std::optional<ContainerId> child = entry_child(c, key, write->lv);
        map.append(key, child ? value(containers_[open(*child)], depth + 1, at)
                              : std::get<Value>(*slot_of(write->lv)));
    }
    return map;
}

std::optional<ContainerId> DocBody::entry_child(const Container& map, std::string_view key, Lv lv) {
    const Slot& slot = *slot_of(lv);
    if (const auto* kind = std::get_if<ContainerKind>(&slot)) return child_id(lv, *kind);
    return mergeable_child(map.id, key, std::get<Value>(slot));
}

Value DocBody::root_value(const Past* at) {
    Map roots;
    // open() may add containers while we go.
    for (std::size_t i = 0; i < containers_.size(); ++i) {
        Container& c = containers_[i];
        // A mergeable child is shown in its map or nowhere.
        if (!c.id.is_root() || log_of(c).empty() || mergeable_parent(c.id)) continue;
        if (at != nullptr && !at->contains(log_of(c).runs().front().lv)) {
            const auto& runs = log_of(c).runs();
            if (std::none_of(runs.begin(), runs.end(),
                             [&](const Run& run) { return at->contains(run.lv); })) {
                continue;
            }
        }
        roots.set(c.id.root_name(), value(c, 0, at));
    }
    return roots;
}

}  // namespace quire::crdt
