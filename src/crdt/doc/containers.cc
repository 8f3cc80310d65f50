// The containers of a document: opening, copying, packing, and where edits may go.
//
// A container has a number from when it is first named; that is its handle and never changes. Its
// object comes and goes: fit() packs a container whose log gives all of its state, and the next
// look unpacks it, O(ops). An edit is let through by kind, view and room for more ops; a root must
// have a usable name, and a child must be reachable.
#include <memory>

#include "crdt/doc/body.h"
#include "crdt/doc/view.h"
#include "crdt/history/pending.h"
#include "crdt/ids/mergeable.h"

namespace quire::crdt {

DocBody::DocBody(DocBody& other, PeerId peer)
    : settings(other.settings),
      journal_(other.journal_, peer),
      pending_(std::make_unique<Pending>()),
      start_(other.start_),
      doubts_roots_(other.doubts_roots_) {
    for (const Place& from : other.containers_) {
        const auto index = static_cast<ContainerIndex>(containers_.size());
        Place& place = containers_.emplace_back(Place{from.name, nullptr});
        index_.add(index);
        // A map's log gives its state. Packed logs stay packed, and a base never is (fit()).
        const bool waits = from.container == nullptr || from.name.kind == ContainerKind::map;
        if (waits && oplog().base() == 0) continue;
        ContainerLog& log = oplog().logs()[index];
        place.container = std::make_unique<Container>(place.name, index, log);
        if (waits) {
            visit(*place.container, [&](auto& body) { body.derive({*this, *place.container}); });
        } else {
            // The original takes merged edits in first, so that it is done once for both.
            auto* const text = std::get_if<TextBody>(&from.container->body);
            if (text != nullptr && !text->effects.empty()) text->latest({other, *from.container});
            place.container->copy_from(*from.container);
        }
    }
}

ContainerIndex DocBody::open(const ContainerId& id) {
    if (const std::optional<ContainerIndex> known = index_.find(id)) return *known;
    const ContainerIndex index = oplog().logs().add(id.kind);
    Place& place = containers_.emplace_back(Place{id, nullptr});
    place.container = std::make_unique<Container>(place.name, index, oplog().logs()[index]);
    index_.add(index);
    return index;
}

void DocBody::fit(ContainerIndex index) {
    Place& place = containers_[index];
    Container* const c = place.container.get();
    // Without a container the log was packed before and is as it was.
    // Runs of a base are no ops that anybody wrote. Heads are kept only while the last run is not
    // linear, and a log does not tell them.
    const bool is_derived = c == nullptr || (view_ == nullptr && oplog().base() == 0 &&
                                             c->heads.empty() && visit(*c, [&](auto& body) {
                                                 return body.is_derived({*this, *c});
                                             }));
    if (is_derived && oplog().logs().pack(index)) {
        if (pen_ == c) pen_ = nullptr;
        place.container.reset();
        return;
    }
    if (c == nullptr) return;
    c->log->fit();
    // The log stays open because it did not pack, but it still gives the text again.
    if (auto* const text = std::get_if<TextBody>(&c->body); text != nullptr && is_derived)
        text->forget_state();
}

Container& DocBody::unpack(ContainerIndex index) {
    Place& place = containers_[index];
    place.container = std::make_unique<Container>(place.name, index, oplog().logs()[index]);
    Container& c = *place.container;
    visit(c, [&](auto& body) { body.derive({*this, c}); });
    return c;
}

std::size_t DocBody::memory_bytes(ContainerIndex index) const {
    // Beside its runs, a sequence has a tree with an item for about each of them.
    constexpr std::size_t kItem = 96;
    const Place& place = containers_[index];
    const std::size_t bytes = sizeof place + oplog().logs().memory_bytes(index);
    if (place.container == nullptr) return bytes;
    return bytes + sizeof *place.container + place.container->log->runs().size() * kItem;
}

const Slot* DocBody::slot_of(Lv lv) const {
    const ContainerLog& log = oplog().logs()[oplog().container_of(lv)];
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

Container* DocBody::find_editable(Handle handle, ContainerKind kind) {
    Container& c = container(handle);
    // The checks of refuse() come in another order, but each refusal here has its message there.
    if (c.id.kind != kind) return nullptr;
    if (c.id.is_root() && !mergeable_parent(c.id)) {
        // A root that already holds ops has a name that somebody could use.
        if (!c.log->empty()) return pen_ = &c;
        const std::string& name = c.id.root_name();
        // Loro takes these in an id, but dies of updates to a map that has such a name.
        const bool fatal = c.id.kind == ContainerKind::map &&
                           (name.find_first_of(std::string_view("/\0", 2)) != std::string::npos ||
                            is_mergeable_name(name));
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
    if (!journal_.has_room()) {
        return fail(Errc::out_of_range, "too_large",
                    "the document has no numbers left for operations, or this peer has none; edit "
                    "as another peer; nothing was changed");
    }
    if (c.id.is_root() && !mergeable_parent(c.id)) {
        return invalid("invalid_name",
                       "a root container's name has at least one character, and a map's neither "
                       "'/' nor NUL nor a mergeable child's beginning; nothing was changed");
    }
    return fail(
        Errc::not_found, "container_deleted",
        "the container was deleted with what held it, or was never made; nothing was changed");
}

}  // namespace quire::crdt
