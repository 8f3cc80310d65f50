// Reaching containers from a root, now or at a version.
//
// A container is alive if each container on the way up to a root still holds the one below it. The
// answer for the latest version is kept in every container that was passed, under an epoch that any
// op ends that may make or remove a child; the answers for a version are kept in its Reach.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/view.h"
#include "crdt/ids/mergeable.h"

namespace quire::crdt {

std::optional<DocBody::Holder> DocBody::holder_of(const ContainerId& id) {
    if (id.is_root()) {
        const std::optional<ContainerId> map = mergeable_parent(id);
        return map ? std::optional(Holder{open(*map), kNoLv}) : std::nullopt;
    }
    const std::optional<Lv> creator = oplog().atoms().lv_of(id.op());
    if (!creator || !made_by(id, *creator)) return std::nullopt;
    return Holder{oplog().container_of(*creator), *creator};
}

// Each step up goes to the container that holds this one, if it still does. A creating atom lies in
// a container that is older than what it makes, and the name of a mergeable child is longer than
// that of the map that holds it, so the way up ends, whatever a history says of who made what; and
// it may be long, so it is walked and not recursed.
template <class Known, class Holds, class Note>
bool DocBody::reaches_root(Container& c, Known known, Holds holds, Note note) {
    std::vector<Container*> way;
    bool alive = false;
    Lv limit = kNoLv;
    for (Container* at = &c;;) {
        if (const std::optional<bool> told = known(*at)) {
            alive = *told;
            break;
        }
        const std::optional<Holder> holder = holder_of(at->id);
        if (!holder) {
            alive = at->id.is_root();
            break;
        }
        way.push_back(at);
        if (holder->creator != kNoLv) {
            // Creators get smaller on the way up, except in a history that somebody made up.
            if (holder->creator >= limit) break;
            limit = holder->creator;
        }
        Container& parent = container(holder->index);
        if (!holds(parent, *at, holder->creator)) break;
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
        [&](Container& parent, const Container& child, Lv creator) {
            if (creator == kNoLv)
                return parent.as<MapBody>().shows({*this, parent}, child.id, nullptr);
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
        [&](Container& parent, const Container& child, Lv creator) {
            if (creator == kNoLv)
                return parent.as<MapBody>().shows({*this, parent}, child.id, reach.at);
            return reach.at->contains(creator) && visit(parent, [&](auto& body) {
                       return body.holds_child({*this, parent}, creator, reach);
                   });
        },
        [&](const Container& at, bool alive) { reach.alive.emplace(at.index, alive); });
}

// The answers are not kept: only shallow snapshots ask, once for a container. O(depth).
bool DocBody::may_show(Container& c) {
    return reaches_root(
        c, [](const Container&) { return std::optional<bool>(); },
        [&](Container& parent, const Container&, Lv creator) {
            if (creator == kNoLv || parent.id.kind == ContainerKind::tree) return true;
            return visit(parent, [&](auto& body) {
                return body.holds_child({*this, parent}, creator);
            });
        },
        [](const Container&, bool) {});
}

bool DocBody::made_by(const ContainerId& id, Lv creator) {
    // A node of a tree holds the map of its name.
    if (oplog().logs()[oplog().container_of(creator)].kind() == ContainerKind::tree)
        return id.kind == ContainerKind::map;
    const Slot* slot = slot_of(creator);
    const auto* kind = slot == nullptr ? nullptr : std::get_if<ContainerKind>(slot);
    return kind != nullptr && *kind == id.kind;
}

}  // namespace quire::crdt
