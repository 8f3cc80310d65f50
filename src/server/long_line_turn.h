// LongLineTurn: which client may send the rest of a long line. A line is held in memory until it
// ends, so long ones come in one at a time, and the others wait in their sockets.
//
// A client that has the turn and sends nothing for kStallMs while others wait loses it. The turn
// bounds what all clients together make the server hold: one long line at a time, unless its sender
// stalls, and about kLongLine of each other client. One thread; times are steady milliseconds.
// O(log waiting).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace quire::server {

class LongLineTurn {
public:
    // From this length on a line needs the turn.
    static constexpr std::size_t kLongLine = std::size_t{1} << 20;
    static constexpr std::int64_t kStallMs = 1000;

    // Asks for the turn, or keeps it: each piece of the line that arrives makes the server ask
    // again, which sets the stall time anew. A client that does not get it waits. A holder that has
    // stalled loses its turn only when somebody else asks.
    bool take(std::uint64_t client, std::int64_t now_ms) {
        const bool is_free = !holder_ || now_ms >= until_ms_;
        if (!is_free && *holder_ != client) {
            waiting_.insert(client);
            return false;
        }
        holder_ = client;
        until_ms_ = now_ms + kStallMs;
        waiting_.erase(client);
        return true;
    }
    // The client's line has ended, or the client has left. Returns those who should ask again.
    std::set<std::uint64_t> leave(std::uint64_t client) {
        waiting_.erase(client);
        if (holder_ != client) return {};
        holder_.reset();
        return std::exchange(waiting_, {});
    }
    // When those who wait should ask again although nobody has left; none while nobody waits.
    std::optional<std::int64_t> retry_ms() const {
        return waiting_.empty() ? std::nullopt : std::optional(until_ms_);
    }
    // All who wait, for asking them again after retry_ms(). Those who do not get the turn then wait
    // anew.
    std::set<std::uint64_t> take_waiting() { return std::exchange(waiting_, {}); }

private:
    std::optional<std::uint64_t> holder_;
    std::int64_t until_ms_ = 0;
    std::set<std::uint64_t> waiting_;
};

}  // namespace quire::server
