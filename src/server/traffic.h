// Traffic: the bytes of all requests that are open and of all answers that are not read yet, over
// the clients of one server.
//
// It bounds what clients together make the kernel hold. A request that finds no room waits; the
// transport tries again when bytes have left. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sched/guarded.h"

namespace quire::server {

class Traffic {
public:
    explicit Traffic(std::size_t most) : most_(most) {}

    // Returns true if a request of so many bytes may begin now: also one that is larger than the
    // bound, when nothing else is under way. Else somebody waits from now on.
    bool has_room(std::size_t bytes);
    // Counts bytes that are held from now on: a request's until its answer, an answer's until it is
    // read.
    void add(std::size_t bytes);
    // Returns true if somebody waited for room, who should then be looked at. Said once.
    bool remove(std::size_t bytes);

    std::size_t most() const { return most_; }

private:
    struct State {
        // Below zero for a moment, when bytes leave before their arrival was counted.
        std::int64_t held = 0;
        bool is_awaited = false;
    };
    const std::size_t most_;
    sched::Guarded<State> state_;
};

}  // namespace quire::server
