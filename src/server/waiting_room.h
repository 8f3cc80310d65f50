// WaitingRoom: the clients of a server that may not go on yet: the next request finds no room in the
// traffic, or a long line has to wait for its turn. Times are steady milliseconds. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "server/long_line_turn.h"
#include "server/traffic.h"

namespace quire::server {

class WaitingRoom {
public:
    // A request waits for room at most `wait_ms`.
    WaitingRoom(std::shared_ptr<Traffic> traffic, std::int64_t wait_ms)
        : traffic_(std::move(traffic)), wait_ms_(wait_ms) {}

    // `go`: the request may begin. `wait`: not yet; the server keeps the line and asks again when
    // the client is due. `refuse`: it has waited for `wait_ms`, and is answered with no_room().
    enum class Verdict { go, wait, refuse };
    // May the client's request of so many bytes begin? After `wait` the client is among the due ones
    // when there may be room, and at the latest when its time is over: it is refused then.
    Verdict ask(std::uint64_t client, std::size_t bytes, std::int64_t now_ms);
    // The refusal of such a request.
    Error no_room() const;

    // Returns true if the client, of whose line so many bytes are held, may send more of it.
    bool may_send(std::uint64_t client, std::size_t held_bytes, std::int64_t now_ms);
    // The client has left.
    void leave(std::uint64_t client);

    // The clients that should be looked at again. Each is named until it goes on.
    std::vector<std::uint64_t> due(std::int64_t now_ms);
    // When the next is due although nothing happens. None while nobody waits for a time.
    // O(waiting).
    std::optional<std::int64_t> due_ms() const;

private:
    void end_turn(std::uint64_t client);

    const std::shared_ptr<Traffic> traffic_;
    const std::int64_t wait_ms_;
    std::map<std::uint64_t, std::int64_t> without_room_;  // Until when each waits.
    LongLineTurn turn_;
    std::vector<std::uint64_t> next_;  // Their turn may have come.
};

}  // namespace quire::server
