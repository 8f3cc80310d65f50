#include "crdt/state/map_state.h"

#include <algorithm>
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

MapState::Keyed* MapState::Many::look_up(std::string_view key) {
    const std::uint32_t hash = hash_of(key);
    for (std::size_t cell = hash;; ++cell) {
        const Place& place = table[cell & (table.size() - 1)];
        if (place.next == 0) return nullptr;
        if (place.hash == hash && keys[place.next - 1].first == key) return &keys[place.next - 1];
    }
}

void MapState::Many::add(Keyed keyed) {
    keys.push_back(std::move(keyed));
    if (2 * keys.size() <= table.size()) return note(static_cast<std::uint32_t>(keys.size() - 1));
    table.assign(std::max<std::size_t>(4 * kFew, 2 * table.size()), {});
    for (std::uint32_t place = 0; place < keys.size(); ++place) note(place);
}

// Enters a key in the table.
void MapState::Many::note(std::uint32_t place) {
    const std::uint32_t hash = hash_of(keys[place].first);
    std::size_t cell = hash;
    while (table[cell & (table.size() - 1)].next != 0) ++cell;
    table[cell & (table.size() - 1)] = {hash, place + 1};
}

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

template <class State>
auto MapState::entry_in(State& state, std::string_view key)
    -> decltype(&state.few_.begin()->second) {
    if (state.many_ != nullptr) {
        Keyed* const keyed = state.many_->look_up(key);
        return keyed == nullptr ? nullptr : &keyed->second;
    }
    const auto at = place_in(state.few_, key);
    return at == state.few_.end() || at->first != key ? nullptr : &at->second;
}

const MapState::Entry* MapState::find(std::string_view key) const {
    return entry_in(*this, key);
}

// Writes may arrive in any order; the winner is the highest in rank.
bool MapState::apply(std::string_view key, const Write& write) {
    Entry* const entry = entry_in(*this, key);
    if (entry == nullptr) {
        add(key, write);
        return true;
    }
    const bool wins = entry->winner.loses_to(write);
    if (entry->others == nullptr) entry->others = std::make_unique<std::vector<Write>>();
    entry->others->push_back(wins ? entry->winner : write);
    if (wins) entry->winner = write;
    return wins;
}

void MapState::add(std::string_view key, const Write& write) {
    if (many_ == nullptr && few_.size() < kFew) {
        // Most maps stay as small as they are made.
        if (few_.size() == few_.capacity()) few_.reserve(few_.size() + 2);
        few_.emplace(place_in(few_, key), std::string(key), Entry{write, nullptr});
        return;
    }
    if (many_ == nullptr) {
        many_ = std::make_unique<Many>();
        for (Keyed& each : std::exchange(few_, {})) many_->add(std::move(each));
    }
    many_->add({std::string(key), Entry{write, nullptr}});
}

}  // namespace quire::crdt
