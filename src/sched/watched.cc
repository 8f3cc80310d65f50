#include "sched/watched.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

namespace quire::sched {

namespace {

// The turns of the two threads: both may wait, one at a time tends.
class Watchers {
public:
    Watchers(Watched& watched, Pool* pool) : watched_(watched), pool_(pool) {}

    // One thread's loop: wait, tend, and run the tasks that were held back.
    void run(int thread) {
        int ms = 0;
        while (true) {
            ++waiting_;
            watched_.wait(thread, ms);
            --waiting_;
            std::optional<Pool::Errand> errand;
            if (pool_ != nullptr) errand.emplace(*pool_);
            const Watched::Next next = tend(thread, errand ? &*errand : nullptr);
            if (next.over) return watched_.wake();
            // The other thread waits with the time it was given, so a round with a deadline may not
            // run tasks.
            if (errand && next.ms < 0 && waiting_ > 0) errand->run();
            ms = next.ms;
        }
    }

private:
    Watched::Next tend(int thread, Pool::Errand* errand) {
        const std::lock_guard lock(tending_);
        if (over_) return {.over = true};
        const Watched::Next next = watched_.tend(thread, errand);
        over_ = next.over;
        return next;
    }

    Watched& watched_;
    Pool* const pool_;
    std::mutex tending_;
    bool over_ = false;
    std::atomic<int> waiting_ = 0;
};

}  // namespace

void serve_watched(Watched& watched, Pool* pool) {
    Watchers watchers(watched, pool);
    if (pool == nullptr) return watchers.run(0);
    std::thread second([&] { watchers.run(1); });
    watchers.run(0);
    second.join();
}

}  // namespace quire::sched
