#include "base/cat.h"
#include "base/check.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

ContainerIndex DocBody::open(const ContainerId& id) {
    const auto found = index_.find(id);
    if (found != index_.end()) return found->second;
    const ContainerIndex index = log_.add_container(id.kind);
    Container& c = containers_.emplace_back();
    c.id = id;
    c.index = index;
    c.log = &log_.log(index);
    if (id.kind == ContainerKind::text) c.text = std::make_unique<TextState>();
    if (id.kind == ContainerKind::map) c.map = std::make_unique<MapState>();
    if (id.kind == ContainerKind::movable_list) c.movable = std::make_unique<MovableList>();
    index_.emplace(id, index);
    return index;
}

const Slot* DocBody::slot_of(Lv lv) {
    const ContainerLog& log = log_.log(log_.container_of(lv));
    const Run& run = log.runs()[log.find(lv)];
    if (run.kind == RunKind::element_set ||
        (run.kind == RunKind::insert && log.kind() != ContainerKind::text)) {
        return &log.value(run, lv);
    }
    if (run.kind == RunKind::map_entry) {
        const auto* set = std::get_if<MapSet>(&log.op(run));
        if (set != nullptr) return &set->value;
    }
    return nullptr;
}

// Alive is reachable: each step up goes to the container that the creating atom wrote to, if what
// it wrote is still there. A parent is always older than its child, so the way up ends.
bool DocBody::is_alive(Container& c) {
    if (c.id.is_root()) return true;
    if (c.alive_at == epoch_) return c.alive;
    bool alive = false;
    Lv limit = kNoLv;
    Container* at = &c;
    for (;;) {
        if (at->id.is_root()) {
            alive = true;
            break;
        }
        const std::optional<Lv> creator = log_.atoms().lv_of(at->id.op());
        if (!creator || *creator >= limit) break;
        limit = *creator;
        Container& parent = containers_[log_.container_of(*creator)];
        if (parent.id.kind == ContainerKind::tree) {
            // What a node holds is the map of its name.
            if (at->id.kind != ContainerKind::map || !tree_node(parent, at->id.op(), nullptr))
                break;
            at = &parent;
            continue;
        }
        const Slot* slot = slot_of(*creator);
        const auto* kind = slot == nullptr ? nullptr : std::get_if<ContainerKind>(slot);
        if (kind == nullptr || *kind != at->id.kind) break;
        if (parent.id.kind == ContainerKind::list) {
            if (sequence(parent).place_of(*creator).erased > 0) break;
        } else if (parent.id.kind == ContainerKind::movable_list) {
            if (!is_shown(parent, *creator)) break;
        } else {
            const ContainerLog& log = log_of(parent);
            const auto& set = std::get<MapSet>(log.op(log.runs()[log.find(*creator)]));
            const MapState::Entry* entry = parent.map->find(set.key);
            if (entry == nullptr || entry->winner.lv != *creator) break;
        }
        at = &parent;
    }
    c.alive = alive;
    c.alive_at = epoch_;
    return alive;
}

Container* DocBody::editable(Handle handle, ContainerKind kind) {
    Container& c = container(handle);
    if (c.id.kind != kind || view_ != nullptr) return nullptr;
    if (c.id.is_root()) {
        // A root that already holds ops has a name that somebody could use.
        if (c.size > 0 || !log_of(c).empty()) return &c;
        const std::string& name = c.id.root_name();
        // Loro takes these characters in an id, but dies of updates to a map that has one.
        const bool fatal = c.id.kind == ContainerKind::map &&
                           name.find_first_of(std::string_view("/\0", 2)) != std::string::npos;
        return name.empty() || fatal ? nullptr : &c;
    }
    return is_alive(c) ? &c : nullptr;
}

Failure DocBody::refuse_detached() {
    return fail(Errc::conflict, "detached",
                "editing a detached document: it shows an earlier version; attach it, or check out "
                "the latest version, and edit then; nothing was changed");
}

Failure DocBody::refuse(Handle handle, ContainerKind kind) {
    const Container& c = container(handle);
    if (c.id.kind != kind) {
        return invalid(
            "wrong_kind",
            "the container is of another kind than this operation is for; nothing was changed");
    }
    if (view_ != nullptr) return refuse_detached();
    if (c.id.is_root()) {
        return invalid("invalid_name",
                       "a root container's name has at least one character, and a map's neither "
                       "'/' nor NUL; nothing was changed");
    }
    return fail(
        Errc::not_found, "container_deleted",
        "the container was deleted with what held it, or was never made; nothing was changed");
}

}  // namespace quire::crdt
