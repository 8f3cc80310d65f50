// Asking: what it takes to ask people in their clients, one for all sessions of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "mcp/request_seal.h"
#include "sched/scheduler.h"

namespace quire::mcp {

struct Asking {
    sched::Scheduler& scheduler;
    const Clock& clock;
    Rng& rng;
    RequestSeal seal{rng};
    // Of one client at a time. More calls that would ask are refused as they would be without.
    std::size_t most_questions = 8;
    int most_rounds = 4;  // Questions that one call may lead to while it waits.
    std::int64_t open_ms = std::int64_t{15} * 60 * 1000;  // How long an answer is taken.
};

}  // namespace quire::mcp
