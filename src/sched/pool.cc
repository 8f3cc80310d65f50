// A queue under one mutex, workers that sleep on it, and a timer thread with a heap of delayed
// tasks. The one refinement is a shortcut: a task that a running task posts stays on the same
// worker (Turn), up to kMostInARow times, because the usual chain (socket, strand, store, answer)
// would otherwise wake one thread per step, and a wake-up costs more than most steps. An Errand
// extends this to a thread outside of the pool that just received a request. Cost: one lock per
// task that leaves its worker, none for one that stays.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sched/scheduler.h"

namespace quire::sched {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Delayed {
    SteadyTime due;
    std::uint64_t order;  // Tasks due at the same time run in posting order.
    Task task;
};

// Tasks that a worker's own task posts continue on the same worker, so passing work between strands
// wakes nobody. One task at a time, and not without end, so that others get their turn.
constexpr int kMostInARow = 16;

// The task that the calling worker holds for itself, and how many it ran in a row.
struct Turn {
    const void* pool = nullptr;  // The pool that the calling thread works for.
    std::optional<Task> next;
    int in_a_row = 0;
};

Turn& this_turn() {
    thread_local Turn turn;
    return turn;
}

// Order of a heap whose front is the earliest task.
bool later(const Delayed& a, const Delayed& b) {
    return a.due != b.due ? a.due > b.due : a.order > b.order;
}

}  // namespace

struct Pool::Body {
    std::mutex ready_mutex;
    std::condition_variable ready_changed;
    std::deque<Task> ready;
    bool stopping = false;

    std::mutex delayed_mutex;
    std::condition_variable delayed_changed;
    std::vector<Delayed> delayed;
    std::uint64_t delayed_count = 0;
    bool timer_stopping = false;

    std::vector<std::thread> workers;
    std::thread timer;

    // A task stays on the worker that posts it, unless one waits there already or too many ran in a
    // row.
    void post(Task task) {
        Turn& turn = this_turn();
        if (turn.pool == this && !turn.next && turn.in_a_row < kMostInARow) {
            turn.next = std::move(task);
            return;
        }
        {
            const std::lock_guard lock(ready_mutex);
            ready.push_back(std::move(task));
        }
        ready_changed.notify_one();
    }

    // Runs the task, then the tasks that stay on this worker.
    void run(Task task) {
        Turn& turn = this_turn();
        for (turn.in_a_row = 0;; ++turn.in_a_row) {
            task();
            task = nullptr;  // Its captures may post when they are destroyed.
            if (!turn.next) return;
            task = std::move(*turn.next);
            turn.next.reset();
        }
    }

    // A worker: sleeps until there is a task, runs it, and looks again.
    void work() {
        this_turn().pool = this;
        std::unique_lock lock(ready_mutex);
        while (true) {
            ready_changed.wait(lock, [this] { return !ready.empty() || stopping; });
            if (ready.empty()) return;
            Task task = std::move(ready.front());
            ready.pop_front();
            lock.unlock();
            run(std::move(task));
            lock.lock();
        }
    }

    // The timer thread: sleeps until the earliest delayed task is due and moves it to the queue.
    void keep_time() {
        std::unique_lock lock(delayed_mutex);
        while (!timer_stopping) {
            if (delayed.empty()) {
                delayed_changed.wait(lock);
                continue;
            }
            const SteadyTime due = delayed.front().due;
            if (std::chrono::steady_clock::now() < due) {
                delayed_changed.wait_until(lock, due);
                continue;
            }
            std::pop_heap(delayed.begin(), delayed.end(), later);
            Task task = std::move(delayed.back().task);
            delayed.pop_back();
            lock.unlock();
            post(std::move(task));
            lock.lock();
        }
    }
};

// The timer starts with the workers and sleeps until something is delayed.
Pool::Pool(unsigned workers) : body_(std::make_unique<Body>()) {
    CHECK(workers > 0);
    for (unsigned i = 0; i < workers; ++i)
        body_->workers.emplace_back([body = body_.get()] { body->work(); });
    body_->timer = std::thread([body = body_.get()] { body->keep_time(); });
}

// Workers finish what is queued; delayed tasks are dropped.
Pool::~Pool() {
    {
        const std::lock_guard lock(body_->delayed_mutex);
        body_->timer_stopping = true;
    }
    body_->delayed_changed.notify_one();
    body_->timer.join();
    {
        const std::lock_guard lock(body_->ready_mutex);
        body_->stopping = true;
    }
    body_->ready_changed.notify_all();
    for (std::thread& worker : body_->workers) worker.join();
    // A worker leaves when the queue is empty, so one that was still running runs the tasks it
    // posted.
}

// Marks the calling thread as one that may hold a task of the pool.
Pool::Errand::Errand(Pool& pool) : pool_(pool) {
    Turn& turn = this_turn();
    CHECK(turn.pool == nullptr);
    turn.pool = pool_.body_.get();
    turn.in_a_row = 0;
}

Pool::Errand::~Errand() {
    give();
}

std::optional<Task> Pool::Errand::end() {
    Turn& turn = this_turn();
    turn.pool = nullptr;
    return std::exchange(turn.next, std::nullopt);
}

void Pool::Errand::give() {
    if (std::optional<Task> kept = end()) pool_.post(std::move(*kept));
}

void Pool::Errand::run() {
    Turn& turn = this_turn();
    std::optional<Task> kept = std::exchange(turn.next, std::nullopt);
    if (kept) pool_.body_->run(std::move(*kept));
    turn.pool = nullptr;
}

void Pool::post(Task task) {
    body_->post(std::move(task));
}

// The timer wakes up only if the new task is due first.
void Pool::post_after(std::int64_t ms, Task task) {
    if (ms <= 0) return post(std::move(task));
    const SteadyTime due = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
    bool soonest = false;
    {
        const std::lock_guard lock(body_->delayed_mutex);
        const std::uint64_t order = body_->delayed_count++;
        body_->delayed.push_back({due, order, std::move(task)});
        std::push_heap(body_->delayed.begin(), body_->delayed.end(), later);
        soonest = body_->delayed.front().order == order;
    }
    if (soonest) body_->delayed_changed.notify_one();
}

}  // namespace quire::sched
