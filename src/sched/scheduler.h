// The places where code runs. This is the only room that names threads, mutexes and atomics.
//
// A Scheduler runs tasks. A Strand runs its tasks one after another, in the order of posting, so
// the data it owns needs no lock. Tests use ManualScheduler, whose seed picks the interleaving.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/function.h"

namespace quire::sched {

// A piece of work that runs once.
using Task = Function<void()>;

// Runs tasks on some thread.
class Scheduler {
public:
    virtual ~Scheduler() = default;
    // Runs `task` soon, on some worker. Any thread may call.
    virtual void post(Task task) = 0;
    // Runs `task` after at least `ms` milliseconds; zero or less means post().
    virtual void post_after(std::int64_t ms, Task task) = 0;
    // The number of tasks that one strand may run in a row before other work gets a turn.
    virtual std::size_t burst() const { return 1; }
};

// Workers and one timer thread. The destructor runs queued tasks and the tasks that those post,
// drops delayed ones, and joins. A task must not throw, destroy its pool, or wait for a task that
// it posted, since that one may be next on the same worker.
class Pool final : public Scheduler {
public:
    explicit Pool(unsigned workers);  // At least one.
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool() override;
    void post(Task task) override;
    void post_after(std::int64_t ms, Task task) override;
    std::size_t burst() const override { return 32; }

    // While it lives, the first task that its thread posts is held back, to be run by this thread:
    // the thread that waited for a request also serves it, and no worker has to be woken. Its
    // thread must not belong to the pool and has one errand at a time.
    class Errand {
    public:
        explicit Errand(Pool& pool);
        Errand(const Errand&) = delete;
        Errand& operator=(const Errand&) = delete;
        ~Errand();  // Calls give().
        // Hands the task to the workers and holds nothing back from now on.
        void give();
        // Runs the held task and, for a while, tasks that follow from it. Holds nothing back
        // afterwards.
        void run();

    private:
        std::optional<Task> end();
        Pool& pool_;
    };

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

// Runs tasks serially. Tasks posted from several threads are in one order, and two of them never
// overlap. Copies are the same strand; posted tasks run even after the last copy is gone. Many
// strands share a Scheduler.
class Strand {
public:
    // A strand that runs on `scheduler`, which must outlive it.
    explicit Strand(Scheduler& scheduler);
    // Runs `task` after all tasks posted before. Any thread may call.
    void post(Task task);
    // Posts `task` after at least `ms` milliseconds.
    void post_after(std::int64_t ms, Task task);
    bool is_current() const;  // True if the caller runs on this strand.

private:
    struct Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::sched
