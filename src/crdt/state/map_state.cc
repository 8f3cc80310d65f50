#include "crdt/state/map_state.h"

#include <algorithm>
#include <functional>

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

const MapState::Keyed* MapState::look_up(std::string_view key) const {
    if (table_.empty()) {
        const auto at = place_in(keys_, key);
        return at == keys_.end() || at->first != key ? nullptr : &*at;
    }
    const std::uint32_t hash = hash_of(key);
    for (std::size_t cell = hash;; ++cell) {
        const Place& place = table_[cell & (table_.size() - 1)];
        if (place.next == 0) return nullptr;
        if (place.hash == hash && keys_[place.next - 1].first == key) return &keys_[place.next - 1];
    }
}

const MapState::Entry* MapState::find(std::string_view key) const {
    const Keyed* keyed = look_up(key);
    return keyed == nullptr ? nullptr : &keyed->second;
}

// Writes may arrive in any order; the winner is the highest in rank.
bool MapState::apply(std::string_view key, const Write& write) {
    const Keyed* keyed = look_up(key);
    if (keyed == nullptr) {
        add(key, write);
        return true;
    }
    Entry& entry = keys_[static_cast<std::size_t>(keyed - keys_.data())].second;
    const bool wins = entry.winner.loses_to(write);
    if (entry.others == nullptr) entry.others = std::make_unique<std::vector<Write>>();
    entry.others->push_back(wins ? entry.winner : write);
    if (wins) entry.winner = write;
    return wins;
}

void MapState::add(std::string_view key, const Write& write) {
    if (table_.empty() && keys_.size() < kFew) {
        // Most maps stay as small as they are made.
        if (keys_.size() == keys_.capacity()) keys_.reserve(keys_.size() + 2);
        keys_.emplace(place_in(keys_, key), std::string(key), Entry{write, nullptr});
        return;
    }
    keys_.emplace_back(std::string(key), Entry{write, nullptr});
    if (2 * keys_.size() <= table_.size())
        return note(static_cast<std::uint32_t>(keys_.size() - 1));
    table_.assign(std::max<std::size_t>(4 * kFew, 2 * table_.size()), {});
    for (std::uint32_t place = 0; place < keys_.size(); ++place) note(place);
}

// Enters a key in the table.
void MapState::note(std::uint32_t place) {
    const std::uint32_t hash = hash_of(keys_[place].first);
    std::size_t cell = hash;
    while (table_[cell & (table_.size() - 1)].next != 0) ++cell;
    table_[cell & (table_.size() - 1)] = {hash, place + 1};
}

void MapState::sort() const {
    const std::size_t known = order_.size();
    if (known == keys_.size()) return;
    const auto key = [this](std::size_t place) { return std::string_view(keys_[place].first); };
    const std::vector<std::uint32_t> added = order_by_key(known, keys_.size(), key);
    order_.insert(order_.end(), added.begin(), added.end());
    std::inplace_merge(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(known),
                       order_.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
}

}  // namespace quire::crdt
