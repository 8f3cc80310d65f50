// Where code runs. The only room that names threads, mutexes and atomics.
//
// A Scheduler runs tasks; a Strand runs its tasks one after another, in the order they were posted,
// so that what belongs to it needs no lock. Tests use ManualScheduler, whose seed picks the
// interleaving.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/function.h"

namespace quire::sched {

using Task = Function<void()>;

class Scheduler {
public:
    virtual ~Scheduler() = default;
    // Runs `task` soon, on some worker. Any thread may call.
    virtual void post(Task task) = 0;
    // Runs `task` once at least `ms` milliseconds have passed; none or fewer is post().
    virtual void post_after(std::int64_t ms, Task task) = 0;
    // How many tasks of one strand may run in a row before other work gets its turn.
    virtual std::size_t burst() const { return 1; }
};

// Workers and one timer thread. The destructor runs what is queued and what that posts in turn,
// drops what is delayed, and joins. A task must not throw, nor destroy the pool that runs it, nor
// wait for one that it posted: that one may be next on the same worker.
class Pool final : public Scheduler {
public:
    explicit Pool(unsigned workers);  // At least one.
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool() override;
    void post(Task task) override;
    void post_after(std::int64_t ms, Task task) override;
    std::size_t burst() const override { return 32; }

    // While it lives, the first task that its thread posts is kept back, to be run by this thread:
    // so what arrives is done by who waited for it, and no worker is woken on the way. Its thread
    // is none of the pool's, and has one errand at a time.
    class Errand {
    public:
        explicit Errand(Pool& pool);
        Errand(const Errand&) = delete;
        Errand& operator=(const Errand&) = delete;
        ~Errand();    // give().
        void give();  // To the workers; and nothing is kept back from now on.
        // Runs what was kept and, for a while, what follows from it. Nothing is kept back after.
        void run();

    private:
        std::optional<Task> end();
        Pool& pool_;
    };

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

// Runs tasks when told, in an order that `seed` decides (0: first in, first out). One thread; tasks
// that are left when it goes are dropped.
class ManualScheduler final : public Scheduler {
public:
    explicit ManualScheduler(std::uint64_t seed = 0);
    ManualScheduler(const ManualScheduler&) = delete;
    ManualScheduler& operator=(const ManualScheduler&) = delete;
    ~ManualScheduler() override;
    void post(Task task) override;
    void post_after(std::int64_t ms, Task task) override;
    bool run_one();  // False when nothing is ready.
    void run_all();  // Until nothing is ready.
    // Runs what is ready, then moves time from one due task to the next, running each with what it
    // posts.
    void advance(std::int64_t ms);

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

// Serial. Tasks posted from several threads are in one order; two tasks never overlap. Copies are
// the same strand; tasks already posted run even when the last copy is gone. Many strands share a
// Scheduler.
class Strand {
public:
    explicit Strand(Scheduler& scheduler);
    void post(Task task);
    void post_after(std::int64_t ms, Task task);
    bool is_current() const;  // Whether the caller runs on this strand.

private:
    struct Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::sched
