// ManualScheduler: a scheduler for tests, which runs nothing until it is told to.
#pragma once

#include <cstdint>
#include <memory>

#include "sched/scheduler.h"

namespace quire::sched {

// Runs tasks on request, in an order that `seed` decides (0: first in, first out). One thread; the
// destructor drops remaining tasks.
class ManualScheduler final : public Scheduler {
public:
    // Without a seed tasks run in posting order.
    explicit ManualScheduler(std::uint64_t seed = 0);
    ManualScheduler(const ManualScheduler&) = delete;
    ManualScheduler& operator=(const ManualScheduler&) = delete;
    ~ManualScheduler() override;
    void post(Task task) override;
    void post_after(std::int64_t ms, Task task) override;
    bool run_one();  // False if no task is ready.
    void run_all();  // Runs tasks until none is ready.
    // Runs ready tasks, then moves the time from one delayed task to the next and runs each with
    // the tasks that it posts.
    void advance(std::int64_t ms);

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

}  // namespace quire::sched
