#include "sched/manual_for_test.h"

#include <algorithm>
#include <deque>
#include <random>
#include <utility>
#include <vector>

namespace quire::sched {

struct ManualScheduler::Body {
    struct Delayed {
        std::int64_t due;
        Task task;
    };

    explicit Body(std::uint64_t seed) : shuffled(seed != 0), engine(seed) {}

    bool shuffled;
    std::mt19937_64 engine;
    std::int64_t now = 0;
    std::deque<Task> ready;
    std::vector<Delayed> delayed;  // In posting order.

    Task take() {
        const std::size_t chosen = shuffled ? static_cast<std::size_t>(engine() % ready.size()) : 0;
        const auto at = ready.begin() + static_cast<std::ptrdiff_t>(chosen);
        Task task = std::move(*at);
        ready.erase(at);
        return task;
    }

    // Moves the time to the next task that is due by `end`; false if none is.
    bool step_to_next(std::int64_t end) {
        const auto next = std::ranges::min_element(
            delayed, [](const Delayed& a, const Delayed& b) { return a.due < b.due; });
        if (next == delayed.end() || next->due > end) return false;
        now = std::max(now, next->due);
        for (auto at = delayed.begin(); at != delayed.end();) {
            if (at->due > now) {
                ++at;
                continue;
            }
            ready.push_back(std::move(at->task));
            at = delayed.erase(at);
        }
        return true;
    }
};

ManualScheduler::ManualScheduler(std::uint64_t seed) : body_(std::make_unique<Body>(seed)) {}
ManualScheduler::~ManualScheduler() = default;

void ManualScheduler::post(Task task) {
    body_->ready.push_back(std::move(task));
}

void ManualScheduler::post_after(std::int64_t ms, Task task) {
    if (ms <= 0) return post(std::move(task));
    body_->delayed.push_back({body_->now + ms, std::move(task)});
}

bool ManualScheduler::run_one() {
    if (body_->ready.empty()) return false;
    Task task = body_->take();
    task();
    return true;
}

void ManualScheduler::run_all() {
    while (run_one()) {
    }
}

void ManualScheduler::advance(std::int64_t ms) {
    const std::int64_t end = body_->now + ms;
    run_all();
    while (body_->step_to_next(end)) run_all();
    body_->now = end;
}

}  // namespace quire::sched
