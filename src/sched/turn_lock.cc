// One mutex for the state and one condition for all waiters. The lock is held by setting held_, not
// by holding mutex_, so a holder may run for long while others come and count themselves.
#include "sched/turn_lock.h"

namespace quire::sched {

// Urgent callers are counted while they wait, which holds patient ones back.
void TurnLock::take_urgent() {
    std::unique_lock lock(mutex_);
    ++urgent_waiting_;
    changed_.wait(lock, [this] { return !held_; });
    --urgent_waiting_;
    held_ = true;
}

void TurnLock::take_patient() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !held_ && urgent_waiting_ == 0; });
    held_ = true;
}

// All waiting callers wake up, since only they know whether it is their turn.
void TurnLock::release() {
    {
        const std::lock_guard lock(mutex_);
        held_ = false;
    }
    changed_.notify_all();
}

}  // namespace quire::sched
