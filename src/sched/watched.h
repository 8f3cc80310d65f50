// Waiting for events from outside with two threads: one may handle an event at once while the other
// goes on waiting.
#pragma once

#include "sched/scheduler.h"

namespace quire::sched {

// The events that serve_watched() waits for.
class Watched {
public:
    virtual ~Watched() = default;
    // Waits for events, at most `ms` (-1: without limit) or until wake(), and stores them as the
    // finding of `thread`, 0 or 1. Both threads may wait at once.
    virtual void wait(int thread, int ms) = 0;
    // Ends the waits that are under way. Any thread may call.
    virtual void wake() = 0;

    // The outcome of tend().
    struct Next {
        bool over = false;
        int ms = -1;  // The limit of the next wait.
    };
    // Handles the finding of `thread`; never two at once. Tasks that it posts are held in `errand`,
    // if there is one, unless it gives them away.
    virtual Next tend(int thread, Pool::Errand* errand) = 0;
};

// Waits and tends until it is over. With a pool, a second thread does the same, and each then runs
// the tasks its round held back, as long as the other one waits, so one thread always does.
// (Leader/followers, Schmidt et al. 2000, but without promotion: both wait, and the operating
// system wakes one.) It returns on the calling thread after both have stopped. `watched` and `pool`
// must outlive the call.
void serve_watched(Watched& watched, Pool* pool);

}  // namespace quire::sched
