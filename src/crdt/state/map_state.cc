// Every write of a key is kept, not only the winner, because a checkout of an earlier version has
// to find the winner of then. The writes that lost lie beside the entry in no order: their number
// is small, and reading the latest version never looks at them.
#include "crdt/state/map_state.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "base/key_order.h"

namespace quire::crdt {

namespace {

std::uint32_t hash_of(std::string_view key) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(key));
}

// The place of a key in sorted entries, or where it would be.
template <class Entries>
auto place_in(Entries& entries, std::string_view key) {
    return std::lower_bound(entries.begin(), entries.end(), key,
                            [](const auto& entry, std::string_view k) { return entry.first < k; });
}

}  // namespace

void MapState::Many::append(Keyed keyed) {
    order.push_back(static_cast<std::uint32_t>(keys.size()));
    keys.push_back(std::move(keyed));
}

// At most half of the cells are used, so linear probing meets an empty one soon. Comparing the
// stored hash first spares most looks at the key itself.
MapState::Place& MapState::Many::cell_of(std::string_view key, std::uint32_t hash) {
    if (entered < keys.size() || 2 * keys.size() >= table.size()) enter_all();
    for (std::size_t cell = hash;; ++cell) {
        Place& place = table[cell & (table.size() - 1)];
        if (place.next == 0 || (place.hash == hash && keys[place.next - 1].first == key))
            return place;
    }
}

// Brings the table up to date, with room for one more key.
void MapState::Many::enter_all() {
    const std::size_t cells = std::bit_ceil(2 * keys.size() + 1);
    if (cells > table.size()) {
        for (const Place& place : std::exchange(table, std::vector<Place>(cells))) {
            if (place.next > 0) enter(place);
        }
    }
    for (; entered < keys.size(); ++entered)
        enter({hash_of(keys[entered].first), static_cast<std::uint32_t>(entered) + 1});
}

void MapState::Many::enter(Place place) {
    std::size_t cell = place.hash;
    while (table[cell & (table.size() - 1)].next != 0) ++cell;
    table[cell & (table.size() - 1)] = place;
}

// Keys in ascending order, as in a snapshot, are appended unseen: neither hashed nor searched for.
MapState::Entry* MapState::Many::find_or_add(std::string_view key, const Write& write) {
    if (goes_behind(key)) {
        append({std::string(key), Entry{write, nullptr}});
        return nullptr;
    }
    const std::uint32_t hash = hash_of(key);
    Place& cell = cell_of(key, hash);
    if (cell.next > 0) return &keys[cell.next - 1].second;
    keys.push_back({std::string(key), Entry{write, nullptr}});
    cell = {hash, static_cast<std::uint32_t>(++entered)};
    return nullptr;
}

// Only the keys since the last call are sorted, and then merged with the others.
void MapState::Many::sort() {
    const std::size_t known = order.size();
    if (known == keys.size()) return;
    const auto key = [this](std::size_t place) { return std::string_view(keys[place].first); };
    const std::vector<std::uint32_t> added = order_by_key(known, keys.size(), key);
    order.insert(order.end(), added.begin(), added.end());
    std::inplace_merge(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(known),
                       order.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
}

const MapState::Entry* MapState::find(std::string_view key) const {
    if (many_ != nullptr) {
        const Place& cell = many_->cell_of(key, hash_of(key));
        return cell.next == 0 ? nullptr : &many_->keys[cell.next - 1].second;
    }
    const auto at = place_in(few_, key);
    return at == few_.end() || at->first != key ? nullptr : &at->second;
}

MapState::Entry* MapState::find_or_add(std::string_view key, const Write& write) {
    if (many_ != nullptr) return many_->find_or_add(key, write);
    const auto at = place_in(few_, key);
    if (at != few_.end() && at->first == key) return &at->second;
    if (few_.size() == kFew) {
        many_ = std::make_unique<Many>();
        for (Keyed& each : std::exchange(few_, {})) many_->append(std::move(each));
        return many_->find_or_add(key, write);
    }
    const auto index = at - few_.begin();
    // Most maps stay as small as they are made.
    if (few_.size() == few_.capacity()) few_.reserve(few_.size() + 2);
    few_.emplace(few_.begin() + index, std::string(key), Entry{write, nullptr});
    return nullptr;
}

// Writes may arrive in any order; the winner is the highest in rank.
bool MapState::apply(std::string_view key, const Write& write) {
    Entry* const entry = find_or_add(key, write);
    if (entry == nullptr) return true;
    const bool wins = entry->winner.loses_to(write);
    if (entry->others == nullptr) entry->others = std::make_unique<std::vector<Write>>();
    entry->others->push_back(wins ? entry->winner : write);
    if (wins) entry->winner = write;
    return wins;
}

}  // namespace quire::crdt
