// One worker makes all generations, one after another. A call that needs a current one posts a task
// and waits for it up to its limit; the task goes on when nobody waits any more, so the next call
// finds its result. The state is locked only for looks and notes, never while files are copied.
#include "kernel/commands/generation_keeper.h"

#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/concat.h"
#include "stage/generations.h"

namespace quire::kernel {
namespace {

// After a failure all files would be copied again, so it is not tried soon.
constexpr std::int64_t kRetryMs = 60'000;

}  // namespace

// Shared with the tasks of the worker, which may be waiting when the keeper is gone.
struct GenerationKeeper::Body {
    struct State {
        fs::IgnoreNames ignore;
        std::uint64_t disk_bytes = 0;
        std::shared_ptr<const stage::Generation> newest = {};
        std::size_t refreshing = 0;  // Calls that wait for the worker, or are served by it.
        bool is_begun = false;
        std::string failure = {};  // Why there is no generation; "" if it did not fail.
        std::int64_t failed_ms = 0;
        bool is_stale = false;  // The settings are others.
        bool is_given_up = false;
        bool is_over = false;
    };

    Body(std::string workspace, const Clock& its_clock)
        : clock(its_clock),
          remover(std::make_shared<sched::Pool>(1U)),
          generations(std::move(workspace), {}, remover, its_clock) {}

    // On the worker.
    Answer refresh() {
        const auto [ignore, disk_bytes] =
            state.with([](const State& now) { return std::pair(now.ignore, now.disk_bytes); });
        // Calls that came while one refresh ran each post another, which costs little where nothing
        // has changed.
        generations.set(ignore, disk_bytes / kPartOfDisk);
        const Result<void> done = generations.refresh(stopping.get_token());
        return state.with([&](State& now) {
            now.newest = generations.newest();
            now.failure = done ? "" : done.error().message();
            now.failed_ms = clock.steady_ms();
            return Answer{now.newest, now.failure};
        });
    }

    const Clock& clock;
    std::stop_source stopping;
    const std::shared_ptr<sched::Pool> remover;
    // The worker's; other threads ask only is_outdated(), under the lock and while no call refreshes it.
    stage::Generations generations;
    sched::Guarded<State> state;
};

GenerationKeeper::GenerationKeeper(std::string workspace, const Clock& clock)
    : body_(std::make_shared<Body>(std::move(workspace), clock)) {}

GenerationKeeper::~GenerationKeeper() {
    stop();
}

void GenerationKeeper::sweep() {
    stage::Generations::sweep(body_->generations.workspace(), *body_->remover);
}

void GenerationKeeper::set(fs::IgnoreNames ignore, std::uint64_t disk_bytes) {
    body_->state.with([&](Body::State& now) {
        if (now.ignore == ignore && now.disk_bytes == disk_bytes) return;
        now.ignore = std::move(ignore);
        now.disk_bytes = disk_bytes;
        // A refresh that failed may go well now, and the newest generation may have other files.
        now.failure.clear();
        now.is_stale = true;
    });
}

GenerationKeeper::Answer GenerationKeeper::current(std::int64_t wait_ms, bool waits_for_first) {
    using State = Body::State;
    std::optional<Answer> known;
    const std::shared_ptr<Body> body = body_;
    const auto answer = std::make_shared<std::promise<Answer>>();
    std::future<Answer> coming = answer->get_future();
    bool is_first = false;
    body->state.with([&](State& now) {
        if (now.is_over || now.is_given_up) {
            known = Answer{nullptr, now.is_over ? "the kernel is ending" : now.failure};
            return;
        }
        const bool has_failed =
            !now.failure.empty() && body->clock.steady_ms() - now.failed_ms < kRetryMs;
        if (has_failed) {
            known = Answer{nullptr, now.failure};
            return;
        }
        // While a refresh runs, is_outdated() may not be asked: `generations` is the worker's then.
        const bool is_current = now.newest != nullptr && now.refreshing == 0 && !now.is_stale &&
                                !body->generations.is_outdated();
        if (is_current) {
            known = Answer{now.newest, ""};
            return;
        }
        is_first = now.newest == nullptr;
        // One call that nobody waits for is enough.
        if (is_first && !waits_for_first && now.refreshing != 0) {
            known = Answer{nullptr, "the first copy of the files is being made"};
            return;
        }
        now.is_stale = false;
        ++now.refreshing;
        if (worker_ == nullptr) worker_ = std::make_unique<sched::Pool>(1U);
        worker_->post([body, answer] {
            Answer made = body->refresh();
            body->state.with([](State& all) { --all.refreshing; });
            answer->set_value(std::move(made));
        });
    });
    if (known) return std::move(*known);
    if (is_first && !waits_for_first) return {nullptr, "the first copy of the files is being made"};
    // The promise is shared with the task, which sets it also if the wait has ended.
    if (coming.wait_for(std::chrono::milliseconds(wait_ms)) != std::future_status::ready)
        return {nullptr,
                cat("a copy of the files that is current took more than ", wait_ms, " ms")};
    return coming.get();
}

void GenerationKeeper::give_up(std::string why) {
    body_->state.with([&](Body::State& now) {
        now.is_given_up = true;
        now.failure = std::move(why);
        now.newest.reset();
    });
}

std::uint64_t GenerationKeeper::disk_bytes() const {
    return body_->state.with([](const Body::State& now) {
        return now.newest == nullptr ? std::uint64_t{0} : now.newest->disk_bytes;
    });
}

// The worker is joined outside of the lock, because its task takes it.
void GenerationKeeper::stop() {
    body_->stopping.request_stop();
    std::unique_ptr<sched::Pool> worker;
    body_->state.with([&](Body::State& now) {
        now.is_over = true;
        now.newest.reset();
        worker = std::move(worker_);
    });
}

}  // namespace quire::kernel
