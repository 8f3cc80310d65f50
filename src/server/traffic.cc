// One counter under a lock. A request is always let in when nothing else is under way, or one above
// the bound could never begin. Whoever removes bytes learns once that somebody waited: the flag is
// taken down with the answer, so one wake is made for many waiters.

#include "server/traffic.h"

#include <utility>

namespace quire::server {

bool Traffic::has_room(std::size_t bytes) {
    return state_.with([&](State& state) {
        const bool room = state.held <= 0 || static_cast<std::size_t>(state.held) + bytes <= most_;
        state.is_awaited = state.is_awaited || !room;
        return room;
    });
}

void Traffic::add(std::size_t bytes) {
    state_.with([&](State& state) { state.held += static_cast<std::int64_t>(bytes); });
}

bool Traffic::remove(std::size_t bytes) {
    if (bytes == 0) return false;
    return state_.with([&](State& state) {
        state.held -= static_cast<std::int64_t>(bytes);
        return std::exchange(state.is_awaited, false);
    });
}

}  // namespace quire::server
