// A stream of tokens into one block, as a model writes it, on a store in a directory of its own
// (QUIRE_BENCH_DIR, or the temporary one): how many tokens a second the kernel takes, and how long it
// is from a token's call until a subscriber has the event with it. Once without any subscriber, once
// with one, once with a second that never reads.
#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "kernel/core/feed_calls.h"
#include "kernel/core/kernel.h"
#include "kernel/oversight/overseer.h"
#include "sched/scheduler.h"
#include "store/store.h"

namespace {

using namespace quire;  // NOLINT: a benchmark reads better without the project's name.
using Time = std::chrono::steady_clock;

constexpr std::size_t kTokens = 100'000;
constexpr std::ptrdiff_t kInFlight = 256;

class Stream {
public:
    Stream()
        : store_(std::move(store::open_sqlite(cat(directory_.path(), "/quire.db"))->store)),
          kernel_(*kernel::open_kernel({*store_, pool_, clock_, rng_, {}, nullptr})) {
        kernel::BlockCreate what;
        what.role = conversation::Role::model;
        block_ = ask<kernel::BlockVersion>([&](auto reply) {
                     kernel_->create(by(), what, std::move(reply));
                 }).block_id;
    }
    ~Stream() {
        std::promise<void> closed;
        kernel_->close([&](Result<void>) { closed.set_value(); });
        closed.get_future().wait();
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    void subscribe(kernel::BlockPush push) {
        ask<std::string>([&](auto reply) {
            kernel::watch_blocks(kernel_->core(), by(), {.is_pulled = push == nullptr},
                                 std::move(push), std::move(reply));
        });
    }
    // Appends a token every so often, or as fast as they are taken. The moments of the calls.
    std::vector<Time::time_point> write(std::chrono::nanoseconds pause) {
        std::vector<Time::time_point> sent(kTokens);
        std::counting_semaphore<> room(kInFlight);
        const auto start = Time::now();
        for (std::size_t i = 0; i < kTokens; ++i) {
            if (pause.count() > 0)
                std::this_thread::sleep_until(start + pause * static_cast<std::int64_t>(i));
            room.acquire();
            sent[i] = Time::now();
            kernel_->append(by(), block_, i % 20 == 19 ? "token\n" : "token ",
                            kernel::Ack::accepted,
                            [&](const Result<kernel::Appended>&) { room.release(); });
        }
        for (std::ptrdiff_t i = 0; i < kInFlight; ++i) room.acquire();
        return sent;
    }
    void settle() {
        ask<kernel::BlockText>(
            [&](auto reply) { kernel_->read(by(), block_, {}, std::move(reply)); });
    }

private:
    static kernel::Caller by() { return {policy::Actor::parse("agent:ada").value(), 0, {}}; }
    template <class T, class Call>
    T ask(Call call) {
        std::promise<T> answer;
        call(Reply<T>([&](Result<T> result) { answer.set_value(std::move(result).value()); }));
        return answer.get_future().get();
    }

    TestDirectory directory_{TestDirectory::parent_in("QUIRE_BENCH_DIR")};
    std::unique_ptr<store::Store> store_;
    sched::Pool pool_{2};
    SystemClock clock_;
    SystemRng rng_;
    std::unique_ptr<kernel::Kernel> kernel_;
    std::string block_;
};

// The moments at which a subscriber had each token.
class Arrivals {
public:
    void take(const kernel::BlockHub::Events& events) {
        const auto now = Time::now();
        const std::lock_guard lock(mutex_);
        for (const auto& event : events) {
            if (event->text) at_.resize(at_.size() + event->text->size() / 6, now);
        }
        if (at_.size() >= kTokens) all_.set_value();
    }
    std::vector<Time::time_point> wait() {
        all_.get_future().wait();
        return at_;
    }

private:
    std::mutex mutex_;
    std::vector<Time::time_point> at_;
    std::promise<void> all_;
};

// The arguments: subscribers (the second one never reads), and nanoseconds between two tokens.
void tokens(benchmark::State& state) {
    for (auto _ : state) {
        Stream stream;
        Arrivals arrivals;
        if (state.range(0) > 0)
            stream.subscribe([&](const std::string&, const kernel::BlockHub::Events& events) {
                arrivals.take(events);
            });
        if (state.range(0) > 1) stream.subscribe(nullptr);
        const auto start = Time::now();
        const auto sent = stream.write(std::chrono::nanoseconds(state.range(1)));
        stream.settle();
        const std::chrono::duration<double> took = Time::now() - start;
        state.counters["tokens_s"] = static_cast<double>(kTokens) / took.count();
        if (state.range(0) == 0) continue;
        const auto had = arrivals.wait();
        std::vector<double> waits;
        for (std::size_t i = 0; i < kTokens; ++i)
            waits.push_back(std::chrono::duration<double, std::milli>(had[i] - sent[i]).count());
        std::ranges::sort(waits);
        state.counters["p50_ms"] = waits[waits.size() / 2];
        state.counters["p99_ms"] = waits[waits.size() * 99 / 100];
        state.counters["max_ms"] = waits.back();
    }
}
BENCHMARK(tokens)
    ->Args({0, 0})
    ->Args({1, 0})
    ->Args({2, 0})
    ->Args({1, 100'000})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
