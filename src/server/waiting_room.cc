// Two queues of clients, for two shortages. A request that finds no room in the traffic waits until
// a deadline of its own, and is refused then. The rest of a long line waits for its turn without a
// deadline, since the turn passes on when its holder sends nothing for a while.
//
// A client is only named as due; the server then asks again, and the answer may still be to wait.
// So nothing here has to know what changed. O(log clients) for a client, O(waiting) for a round.
#include "server/waiting_room.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"

namespace quire::server {

// The deadline is set by the first ask() for a request and kept by later ones. Room is looked at
// once more after the deadline, so a request that has become possible is not refused.
WaitingRoom::Verdict WaitingRoom::ask(std::uint64_t client, std::size_t bytes,
                                      std::int64_t now_ms) {
    const bool room = traffic_->has_room(bytes);
    const auto [waits, is_new] = without_room_.try_emplace(client, now_ms + wait_ms_);
    if (!room && now_ms < waits->second) return Verdict::wait;
    without_room_.erase(waits);
    return room ? Verdict::go : Verdict::refuse;
}

Error WaitingRoom::no_room() const {
    return {Errc::unavailable,
            "in_flight_limit",
            cat("nothing was done: the requests and answers of all clients together are more than ",
                traffic_->most(),
                " bytes (in_flight_bytes in [limits] of quire.toml), and this call has waited for "
                "room. Make it again later, or send less at a time"),
            {{"limit", traffic_->most()}}};
}

bool WaitingRoom::may_send(std::uint64_t client, std::size_t held_bytes, std::int64_t now_ms) {
    if (held_bytes >= LongLineTurn::kLongLine) return turn_.take(client, now_ms);
    end_turn(client);
    return true;
}

void WaitingRoom::end_turn(std::uint64_t client) {
    for (const std::uint64_t next : turn_.leave(client)) next_.push_back(next);
}

void WaitingRoom::leave(std::uint64_t client) {
    without_room_.erase(client);
    end_turn(client);
}

std::vector<std::uint64_t> WaitingRoom::due(std::int64_t now_ms) {
    std::vector<std::uint64_t> out = std::exchange(next_, {});
    if (const auto retry = turn_.retry_ms(); retry && now_ms >= *retry) {
        for (const std::uint64_t client : turn_.take_waiting()) out.push_back(client);
    }
    for (const auto& [client, until] : without_room_) out.push_back(client);
    return out;
}

std::optional<std::int64_t> WaitingRoom::due_ms() const {
    std::optional<std::int64_t> next = turn_.retry_ms();
    for (const auto& [client, until] : without_room_) next = std::min(next.value_or(until), until);
    return next;
}

}  // namespace quire::server
