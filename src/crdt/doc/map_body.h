// MapBody: a map. Each key has its writes and the one that wins, which readers take; at another
// version the winner is the greatest write that the version holds. O(log keys) for a key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"
#include "crdt/doc/site.h"
#include "crdt/history/past.h"
#include "crdt/ids/change.h"
#include "crdt/state/map_state.h"

namespace quire::crdt {

struct Run;

struct MapBody {
    MapState state;

    // The write that decides a key at a version, null if there is none. A null `at` means after
    // every op.
    static const MapState::Write* write_at(const MapState::Entry& entry, const Past* at);
    // The write that decides a key for readers; null if the key is not set.
    const MapState::Write* shown(Site site, std::string_view key) const;
    // Returns true if readers of a version see this mergeable child in the map.
    bool shows(Site site, const ContainerId& child, const Past* at) const;
    // The child that the map shows if atom `lv` decides the key; none for a plain value.
    static std::optional<ContainerId> child(Site site, std::string_view key, Lv lv);
    Value value(Site site, int depth, const Past* at);

    MapDelta delta_of(Site site, LvSpan span, const Past& a, const Past& b);
    MapDelta delta_between(Site site, const Past& a, const Past& b);
    MapDelta delta_from_nothing(Site site, const Past* at);

    bool holds_child(Site site, Lv creator);
    bool holds_child(Site site, Lv creator, Reach& reach);
    PathStep step_to(Site site, Lv creator);

    // Takes an op of the log into the state.
    void apply(Site site, const Run& run);
    static bool is_derived(Site) { return true; }
    // Sets the state by the log.
    void derive(Site site);
    // Writes a MapSet or a MapErase.
    void write(Site site, OpContent op);

    void check(Site) {}

private:
    void take_in(Site site, const Run& run);
    static Item item(Site site, std::string_view key, Lv lv);
};

}  // namespace quire::crdt
