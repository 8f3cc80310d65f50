#include "crdt/state/map_state.h"

#include <algorithm>

namespace quire::crdt {

namespace {

// The place of a key in sorted entries, or where it would be.
template <class Entries>
auto place_in(Entries& entries, std::string_view key) {
    return std::lower_bound(entries.begin(), entries.end(), key,
                            [](const auto& entry, std::string_view k) { return entry.first < k; });
}

// The entry of a key among few or many; null if there is none.
template <class Few, class Many>
auto find_in(Few& few, Many& many, std::string_view key) -> decltype(&few.begin()->second) {
    if (many.empty()) {
        const auto at = place_in(few, key);
        return at == few.end() || at->first != key ? nullptr : &at->second;
    }
    const auto at = many.find(key);
    return at == many.end() ? nullptr : &at->second;
}

}  // namespace

// Writes may arrive in any order; the winner is the highest in rank.
bool MapState::apply(std::string_view key, const Write& write) {
    Entry* entry = find_in(few_, many_, key);
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

const MapState::Entry* MapState::find(std::string_view key) const {
    return find_in(few_, many_, key);
}

void MapState::add(std::string_view key, const Write& write) {
    if (many_.empty() && few_.size() < kFew) {
        // Most maps stay as small as they are made.
        if (few_.size() == few_.capacity()) few_.reserve(few_.size() + 2);
        few_.emplace(place_in(few_, key), std::string(key), Entry{write, nullptr});
        return;
    }
    for (auto& [known, entry] : few_) many_.emplace_hint(many_.end(), known, std::move(entry));
    few_ = decltype(few_)();
    many_.emplace(std::string(key), Entry{write, nullptr});
}

}  // namespace quire::crdt
