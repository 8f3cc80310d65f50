// Waiting for what comes from outside, with two threads, so that one may do at once what came while
// the other one goes on waiting.
#pragma once

#include "sched/scheduler.h"

namespace quire::sched {

// What two threads wait for in turns: serve_watched().
class Watched {
public:
    virtual ~Watched() = default;
    // Waits for something to happen, at most `ms` (-1: as long as it takes) or until wake(), and
    // remembers what did as the finding of `thread`, 0 or 1. Both threads may wait at once.
    virtual void wait(int thread, int ms) = 0;
    virtual void wake() = 0;

    struct Next {
        bool over = false;
        int ms = -1;  // For the next wait.
    };
    // Sees to the finding of `thread`; never two at once. What it posts is kept in `errand`, if
    // there is one, unless it gives it away.
    virtual Next tend(int thread, Pool::Errand* errand) = 0;
};

// Waits and tends until it is over. With a pool a second thread does so too, and then each runs
// what its round kept back, as long as the other one waits: somebody always does.
// (Leader/followers, Schmidt et al. 2000, but nobody is promoted: both wait, and the operating
// system wakes one.)
void serve_watched(Watched& watched, Pool* pool);

}  // namespace quire::sched
