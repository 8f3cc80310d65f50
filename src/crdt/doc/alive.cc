// Reaching containers from a root, now or at a version.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/view.h"

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
        const std::optional<Lv> creator = oplog().atoms().lv_of(at->id.op());
        if (!creator || *creator >= limit) break;
        limit = *creator;
        Container& parent = containers_[oplog().container_of(*creator)];
        if (!made_by(at->id, *creator) || !holds(parent, *creator)) break;
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
        [&](Container& parent, Lv creator) {
            return visit(parent, [&](auto& body) {
                return body.holds_child({*this, parent}, creator);
            });
        },
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
            return reach.at->contains(creator) && visit(parent, [&](auto& body) {
                       return body.holds_child({*this, parent}, creator, reach);
                   });
        },
        [&](const Container& at, bool alive) { reach.alive.emplace(at.index, alive); });
}

bool DocBody::made_by(const ContainerId& id, Lv creator) {
    // A node of a tree holds the map of its name.
    if (oplog().log(oplog().container_of(creator)).kind() == ContainerKind::tree)
        return id.kind == ContainerKind::map;
    const Slot* slot = slot_of(creator);
    const auto* kind = slot == nullptr ? nullptr : std::get_if<ContainerKind>(slot);
    return kind != nullptr && *kind == id.kind;
}

}  // namespace quire::crdt
