// MovableBody: what a movable list keeps beside its log.
#pragma once

#include <cstdint>
#include <vector>

#include "crdt/history/container_log.h"
#include "crdt/state/movable_state.h"

namespace quire::crdt {

// A movable list's state, and what the last transaction or import found when it came to it.
struct MovableBody {
    MovableState state;
    // How elements that were there before stood when an op from DocBody::began_ on changed them; in
    // order, and an element as often as it was changed.
    struct Before {
        Lv lv;
        std::uint32_t number;
        MovableState::Element element;
        bool shown;
    };
    std::vector<Before> before;
};

}  // namespace quire::crdt
