// A strand is a queue and a flag. The first task posted to an idle strand schedules a turn on the
// scheduler; the turn runs tasks until the queue is empty or its burst is used up, and then
// schedules the next turn. The flag holds from the first to the last turn, so there is never more
// than one and tasks need no lock of their own.
//
// The lock is released while a task runs: a task may post to its own strand. The turn holds the
// body by a shared pointer, so the queue outlives the last copy of the strand.
#include <deque>
#include <mutex>
#include <utility>

#include "sched/scheduler.h"

namespace quire::sched {

// A strand's queue. At most one turn is scheduled at a time, which makes the strand serial.
struct Strand::Body {
    explicit Body(Scheduler& s) : scheduler(s) {}

    Scheduler& scheduler;
    std::mutex mutex;
    std::deque<Task> tasks;
    bool scheduled = false;  // A turn is queued or running.

    // The strand whose task the calling thread runs. Compared as an address, never followed.
    static const Body*& current() {
        thread_local const Body* body = nullptr;
        return body;
    }

    static void schedule(std::shared_ptr<Body> self) {
        Scheduler& scheduler = self->scheduler;
        scheduler.post([self = std::move(self)]() mutable { run_turn(std::move(self)); });
    }

    // The strand that ran before on this thread is put back: a task may run a turn of another
    // strand, in a test's scheduler for example.
    static void run_turn(std::shared_ptr<Body> self) {
        const Body* const outer = std::exchange(current(), self.get());
        const bool more = self->run_some();
        current() = outer;
        if (more) schedule(std::move(self));
    }

    // Runs at most one burst; true if tasks are left.
    bool run_some() {
        std::unique_lock lock(mutex);
        for (std::size_t left = scheduler.burst(); !tasks.empty(); --left) {
            if (left == 0) return true;
            Task task = std::move(tasks.front());
            tasks.pop_front();
            lock.unlock();
            task();
            task = nullptr;  // Its captures may post when they are destroyed.
            lock.lock();
        }
        scheduled = false;
        return false;
    }
};

Strand::Strand(Scheduler& scheduler) : body_(std::make_shared<Body>(scheduler)) {}

// Queues the task, and schedules a turn unless one is under way.
void Strand::post(Task task) {
    {
        const std::lock_guard lock(body_->mutex);
        body_->tasks.push_back(std::move(task));
        if (std::exchange(body_->scheduled, true)) return;
    }
    Body::schedule(body_);
}

void Strand::post_after(std::int64_t ms, Task task) {
    body_->scheduler.post_after(
        ms, [strand = *this, task = std::move(task)]() mutable { strand.post(std::move(task)); });
}

bool Strand::is_current() const {
    return Body::current() == body_.get();
}

}  // namespace quire::sched
