// Which containers can be reached from a root, now or at a version.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

// Each step up goes to the container that the creating atom wrote to, if what it wrote is still
// there. A parent is always older than its child, so the way up ends, whatever a history says of
// who made what; and it may be long, so it is walked and not recursed.
template <class Known, class Holds, class Note>
bool DocBody::reaches_root(Container& c, Known known, Holds holds, Note note) {
    std::vector<Container*> way;
    bool alive = false;
    Lv limit = kNoLv;
    for (Container* at = &c;;) {
        if (at->id.is_root()) {
            alive = true;
            break;
        }
        if (const std::optional<bool> told = known(*at)) {
            alive = *told;
            break;
        }
        way.push_back(at);
        const std::optional<Lv> creator = log_.atoms().lv_of(at->id.op());
        if (!creator || *creator >= limit) break;
        limit = *creator;
        Container& parent = containers_[log_.container_of(*creator)];
        if (!made_by(*at, *creator) || !holds(parent, *creator)) break;
        at = &parent;
    }
    for (Container* each : way) note(*each, alive);
    return alive;
}

bool DocBody::is_alive(Container& c) {
    return reaches_root(
        c,
        [&](const Container& at) {
            return at.alive_at == epoch_ ? std::optional(at.alive) : std::nullopt;
        },
        [&](Container& parent, Lv creator) { return holds_child(parent, creator); },
        [&](Container& at, bool alive) {
            at.alive = alive;
            at.alive_at = epoch_;
        });
}

bool DocBody::is_alive(Container& c, Reach& reach) {
    if (reach.at == nullptr) return is_alive(c);
    return reaches_root(
        c,
        [&](const Container& at) {
            const auto known = reach.alive.find(at.index);
            return known == reach.alive.end() ? std::nullopt : std::optional(known->second);
        },
        [&](Container& parent, Lv creator) {
            return reach.at->contains(creator) && holds_child(parent, creator, reach);
        },
        [&](const Container& at, bool alive) { reach.alive.emplace(at.index, alive); });
}

bool DocBody::made_by(const Container& c, Lv creator) {
    // What a node of a tree holds is the map of its name.
    if (log_.log(log_.container_of(creator)).kind() == ContainerKind::tree)
        return c.id.kind == ContainerKind::map;
    const Slot* slot = slot_of(creator);
    const auto* kind = slot == nullptr ? nullptr : std::get_if<ContainerKind>(slot);
    return kind != nullptr && *kind == c.id.kind;
}

// The key that an atom put its container under.
const std::string& DocBody::map_key(const Container& map, Lv creator) {
    const ContainerLog& log = log_of(map);
    return std::get<MapSet>(log.op(log.runs()[log.find(creator)])).key;
}

bool DocBody::holds_child(Container& parent, Lv creator, Reach& reach) {
    switch (parent.id.kind) {
        case ContainerKind::list: {
            Sequence& order = sequence(parent);
            order.move_to(history(parent), reach.at->heads());
            return order.is_visible(creator);
        }
        case ContainerKind::map: {
            const MapState::Entry* entry = parent.map->find(map_key(parent, creator));
            const MapState::Write* write = entry == nullptr ? nullptr : map_write(*entry, reach.at);
            return write != nullptr && write->lv == creator;
        }
        case ContainerKind::movable_list: {
            const auto [known, is_new] = reach.shown.try_emplace(parent.index);
            if (is_new) {
                for (const MovableItem& item : movable_items(parent, reach.at))
                    known->second.insert(item.value);
            }
            return known->second.contains(creator);
        }
        case ContainerKind::tree:
            return tree_node(parent, log_.atoms().id_of(creator), reach.at).has_value();
        case ContainerKind::text:
        case ContainerKind::counter:
            return false;
    }
    return false;
}

bool DocBody::holds_child(Container& parent, Lv creator) {
    switch (parent.id.kind) {
        case ContainerKind::list:
            return sequence(parent).place_of(creator).erased == 0;
        case ContainerKind::map: {
            const MapState::Entry* entry = parent.map->find(map_key(parent, creator));
            return entry != nullptr && entry->winner.lv == creator;
        }
        case ContainerKind::movable_list:
            return is_shown(parent, creator);
        case ContainerKind::tree:
            return tree_node(parent, log_.atoms().id_of(creator), nullptr).has_value();
        case ContainerKind::text:
        case ContainerKind::counter:
            return false;
    }
    return false;
}

}  // namespace quire::crdt
