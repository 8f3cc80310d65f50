#include "crdt/state/map_state.h"

namespace quire::crdt {

// Writes may arrive in any order; the winner is the highest in rank.
bool MapState::apply(std::string_view key, const Write& write) {
    auto at = entries_.find(key);
    if (at == entries_.end()) {
        entries_.emplace(std::string(key), Entry{write, {write}});
        return true;
    }
    at->second.writes.push_back(write);
    if (!at->second.winner.loses_to(write)) return false;
    at->second.winner = write;
    return true;
}

const MapState::Entry* MapState::find(std::string_view key) const {
    const auto at = entries_.find(key);
    return at == entries_.end() ? nullptr : &at->second;
}

}  // namespace quire::crdt
