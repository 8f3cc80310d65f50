// Every key keeps all its writes and the one that wins, the greatest by (lamport, peer). Readers of
// the latest version take the winner; at another version the greatest write that it holds is looked
// for: O(writes of the key). A difference looks at the keys that were written in between: O(ops).
#include "crdt/doc/map_body.h"

#include <algorithm>
#include <utility>

#include "crdt/doc/body.h"
#include "crdt/doc/values.h"
#include "crdt/doc/view.h"
#include "crdt/ids/mergeable.h"

namespace quire::crdt {

namespace {

const std::string& key_of(const OpContent& op) {
    const auto* set = std::get_if<MapSet>(&op);
    return set != nullptr ? set->key : std::get<MapErase>(op).key;
}

// The key that an atom put its child under.
const std::string& key_of(Site site, Lv creator) {
    const ContainerLog& log = *site.container.log;
    return std::get<MapSet>(log.op(log.runs()[log.find(creator)])).key;
}

}  // namespace

// --- reading ---

const MapState::Write* MapBody::write_at(const MapState::Entry& entry, const Past* at) {
    if (at == nullptr || at->contains(entry.winner.lv)) return &entry.winner;
    const MapState::Write* last = nullptr;
    if (entry.others == nullptr) return last;
    for (const MapState::Write& write : *entry.others) {
        if (at->contains(write.lv) && (last == nullptr || last->loses_to(write))) last = &write;
    }
    return last;
}

const MapState::Write* MapBody::shown(Site site, std::string_view key) const {
    const MapState::Entry* entry = state.find(key);
    if (entry == nullptr) return nullptr;
    const MapState::Write* write = write_at(*entry, site.document.at());
    return write == nullptr || write->erases ? nullptr : write;
}

std::optional<ContainerId> MapBody::child(Site site, std::string_view key, Lv lv) {
    const Slot& slot = *site.document.slot_of(lv);
    if (const auto* kind = std::get_if<ContainerKind>(&slot))
        return site.document.child_id(lv, *kind);
    return mergeable_child(site.container.id, key, std::get<Value>(slot));
}

bool MapBody::shows(Site site, const ContainerId& wanted, const Past* at) const {
    const std::optional<std::string> key = mergeable_key(wanted);
    const MapState::Entry* entry = key ? state.find(*key) : nullptr;
    const MapState::Write* write = entry == nullptr ? nullptr : write_at(*entry, at);
    return write != nullptr && !write->erases && child(site, *key, write->lv) == wanted;
}

// The item that an entry shows if atom `lv` decides it.
Item MapBody::item(Site site, std::string_view key, Lv lv) {
    if (std::optional<ContainerId> inner = child(site, key, lv)) return *std::move(inner);
    return std::get<Value>(*site.document.slot_of(lv));
}

Value MapBody::value(Site site, int depth, const Past* at) {
    DocBody& document = site.document;
    Map map;
    state.for_each([&](const std::string& key, const MapState::Entry& entry) {
        const MapState::Write* write = write_at(entry, at);
        if (write == nullptr || write->erases) return;
        const std::optional<ContainerId> inner = child(site, key, write->lv);
        map.append(key, inner ? value_of(document, document.container(document.open(*inner)),
                                         depth + 1, at)
                              : std::get<Value>(*document.slot_of(write->lv)));
    });
    return map;
}

// --- differences ---

MapDelta MapBody::delta_of(Site site, LvSpan span, const Past&, const Past&) {
    const ContainerLog& log = *site.container.log;
    MapDelta delta;
    for (const Run& run : log.runs_in(span)) {
        if (run.kind != RunKind::map_entry) continue;
        const auto* set = std::get_if<MapSet>(&log.op(run));
        const std::string& key = key_of(log.op(run));
        const MapState::Entry& entry = *state.find(key);
        if (entry.winner.lv != run.lv) continue;
        if (set == nullptr) {
            // A key that was not there cannot go.
            // An erase is told only if some write before the span had set the key. Atoms are
            // numbered as they came, so the span's begin separates the two.
            const Past before(span.begin, {});
            const MapState::Write* write = write_at(entry, &before);
            if (write == nullptr || write->erases) continue;
        }
        MapChange change{key, std::nullopt};
        if (set != nullptr) change.item = item(site, key, run.lv);
        delta.push_back(std::move(change));
    }
    std::sort(delta.begin(), delta.end(),
              [](const MapChange& a, const MapChange& b) { return a.key < b.key; });
    return delta;
}

MapDelta MapBody::delta_between(Site site, const Past& a, const Past& b) {
    MapDelta delta;
    state.for_each([&](const std::string& key, const MapState::Entry& entry) {
        const MapState::Write* before = write_at(entry, &a);
        // `b` may lack a write that `a` has, so a key can also go because nothing decides it any
        // more.
        const MapState::Write* after = write_at(entry, &b);
        if (before == after || after == nullptr) {
            if (before != after && !before->erases) delta.push_back({key, std::nullopt});
            return;
        }
        const bool was_there = before != nullptr && !before->erases;
        if (after->erases) {
            if (was_there) delta.push_back({key, std::nullopt});
            return;
        }
        Item shown = item(site, key, after->lv);
        if (was_there && item(site, key, before->lv) == shown) return;
        delta.push_back({key, std::move(shown)});
    });
    return delta;
}

MapDelta MapBody::delta_from_nothing(Site site, const Past* at) {
    MapDelta delta;
    state.for_each([&](const std::string& key, const MapState::Entry& entry) {
        const MapState::Write* write = write_at(entry, at);
        if (write == nullptr || write->erases) return;
        delta.push_back({key, item(site, key, write->lv)});
    });
    return delta;
}

// --- children ---

bool MapBody::holds_child(Site site, Lv creator) {
    const MapState::Entry* entry = state.find(key_of(site, creator));
    return entry != nullptr && entry->winner.lv == creator;
}

bool MapBody::holds_child(Site site, Lv creator, Reach& reach) {
    const MapState::Entry* entry = state.find(key_of(site, creator));
    const MapState::Write* write = entry == nullptr ? nullptr : write_at(*entry, reach.at);
    return write != nullptr && write->lv == creator;
}

PathStep MapBody::step_to(Site site, Lv creator) {
    return key_of(site, creator);
}

// --- ops ---

void MapBody::apply(Site site, const Run& run) {
    take_in(site, run);
    site.document.outdate_reach();
}

void MapBody::derive(Site site) {
    for (const Run& run : site.container.log->runs()) take_in(site, run);
}

void MapBody::take_in(Site site, const Run& run) {
    const OpContent& op = site.container.log->op(run);
    const OpLog& log = site.document.oplog();
    state.apply(key_of(op), {run.lv, log.graph().lamport(run.lv), log.atoms().peer_of(run.lv),
                             std::holds_alternative<MapErase>(op)});
}

// A local op is put into the state at once: unlike a text, a map has no state that follows later.
void MapBody::write(Site site, OpContent op) {
    OpLog& log = site.document.journal().begin();
    site.container.log->keep({.lv = log.end()}, RunKind::map_entry, std::move(op));
    log.append(site.container.index, 1);
    apply(site, site.container.log->runs().back());
}

}  // namespace quire::crdt
