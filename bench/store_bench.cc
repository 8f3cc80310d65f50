// Measures a durable commit beside the disk's own cost: one fdatasync of 256 bytes appended to a
// file. Both run on one directory (QUIRE_BENCH_DIR, or the temporary one) and take turns, so that a
// disk that slows down slows both.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "store/store.h"

namespace quire::store {
namespace {

using Clock = std::chrono::steady_clock;

class Directory : public TestDirectory {
public:
    Directory() : TestDirectory(parent_in("QUIRE_BENCH_DIR")) {}
};

// The batch that the kernel stores for one small edit.
Batch edit(DocumentKey document, std::uint64_t version) {
    return {.updates = {{document, Bytes(220, 1)}},
            .blocks = {{.document = document,
                        .block = "b1.1",
                        .version = version,
                        .header = Bytes(80, 2)}},
            .units = {{.document = document,
                       .block = "b1.1",
                       .version = version,
                       .actor = "agent:bench",
                       .at_ms = 1'700'000'000'000 + static_cast<std::int64_t>(version),
                       .description = "edit",
                       .state = "done",
                       .body = Bytes(60, 3)}}};
}

std::future<bool> start(Store& store, Batch batch) {
    auto promise = std::make_shared<std::promise<bool>>();
    std::future<bool> answer = promise->get_future();
    store.commit(std::move(batch),
                 [promise](Result<void> result) { promise->set_value(result.has_value()); });
    return answer;
}

double quantile(std::vector<double>& samples, double at) {
    std::sort(samples.begin(), samples.end());
    return samples.empty()
               ? 0
               : samples[static_cast<std::size_t>(at * static_cast<double>(samples.size() - 1))];
}

double ms_since(Clock::time_point began) {
    return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

void DurableCommit(benchmark::State& state) {
    const Directory directory;
    const auto store = std::move(open_sqlite(directory / "quire.db")->store);
    const int raw =
        ::open((directory / "raw").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::string record(256, 'x');
    std::vector<double> commits, flushes;
    std::uint64_t version = 0;
    for (auto _ : state) {
        auto began = Clock::now();
        if (!start(*store, edit(1, ++version)).get()) state.SkipWithError("a commit failed");
        commits.push_back(ms_since(began));
        began = Clock::now();
        if (::write(raw, record.data(), record.size()) != 256 || ::fdatasync(raw) != 0)
            state.SkipWithError("a flush failed");
        flushes.push_back(ms_since(began));
    }
    ::close(raw);
    state.counters["commit_p50_ms"] = quantile(commits, 0.5);
    state.counters["commit_p99_ms"] = quantile(commits, 0.99);
    state.counters["fdatasync_p50_ms"] = quantile(flushes, 0.5);
    state.counters["fdatasync_p99_ms"] = quantile(flushes, 0.99);
    state.counters["commit_over_fdatasync_p50_ms"] =
        quantile(commits, 0.5) - quantile(flushes, 0.5);
}
BENCHMARK(DurableCommit)->Iterations(2000)->UseRealTime();

// Each of `writers` has up to 64 commits under way.
void PipelinedWriters(benchmark::State& state) {
    const auto writers = static_cast<std::size_t>(state.range(0));
    constexpr int kEach = 2000, kUnderWay = 64;
    const Directory directory;
    const auto store = std::move(open_sqlite(directory / "quire.db")->store);
    for (auto _ : state) {
        std::vector<std::thread> threads;
        for (std::size_t writer = 0; writer < writers; ++writer) {
            threads.emplace_back([&store, writer] {
                std::vector<std::future<bool>> under_way;
                for (int i = 0; i < kEach; ++i) {
                    under_way.push_back(start(*store, edit(static_cast<DocumentKey>(writer + 1),
                                                           static_cast<std::uint64_t>(i))));
                    if (under_way.size() == kUnderWay) {
                        for (auto& answer : under_way) answer.wait();
                        under_way.clear();
                    }
                }
                for (auto& answer : under_way) answer.wait();
            });
        }
        for (std::thread& thread : threads) thread.join();
    }
    state.counters["commits_per_s"] = benchmark::Counter(
        static_cast<double>(state.iterations()) * kEach * static_cast<double>(writers),
        benchmark::Counter::kIsRate);
}
BENCHMARK(PipelinedWriters)->Arg(8)->Iterations(1)->UseRealTime();

void OpenNew(benchmark::State& state) {
    for (auto _ : state) {
        state.PauseTiming();
        const auto directory = std::make_unique<Directory>();
        state.ResumeTiming();
        Result<Opened> opened = open_sqlite(*directory / "quire.db");
        state.PauseTiming();
        opened->store.reset();
        state.ResumeTiming();
    }
}
BENCHMARK(OpenNew)->Iterations(20)->Unit(benchmark::kMillisecond)->UseRealTime();

// A store with 10,000 commits in it, left as a clean end leaves it.
void OpenExisting(benchmark::State& state) {
    const Directory directory;
    {
        const auto store = std::move(open_sqlite(directory / "quire.db")->store);
        for (std::uint64_t i = 0; i < 10'000; ++i)
            store->commit(edit(static_cast<DocumentKey>(i % 100 + 1), i), [](Result<void>) {});
    }
    for (auto _ : state) {
        Result<Opened> opened = open_sqlite(directory / "quire.db");
        benchmark::DoNotOptimize(opened->store->documents());
        state.PauseTiming();
        opened->store.reset();
        state.ResumeTiming();
    }
}
BENCHMARK(OpenExisting)->Iterations(50)->Unit(benchmark::kMillisecond)->UseRealTime();

// Measures how long a reader waits while writers keep the store busy.
void ReadWhileWriting(benchmark::State& state) {
    const Directory directory;
    const auto store = std::move(open_sqlite(directory / "quire.db")->store);
    static_cast<void>(start(*store, edit(99, 1)).get());
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        std::vector<std::future<bool>> under_way;
        for (std::uint64_t i = 0; !stop; ++i) {
            under_way.push_back(start(*store, edit(1, i)));
            if (under_way.size() == 256) {
                for (auto& answer : under_way) answer.wait();
                under_way.clear();
            }
        }
        for (auto& answer : under_way) answer.wait();
    });
    std::vector<double> reads;
    for (auto _ : state) {
        const auto began = Clock::now();
        benchmark::DoNotOptimize(store->load(99));
        reads.push_back(ms_since(began));
    }
    stop = true;
    writer.join();
    state.counters["read_p50_ms"] = quantile(reads, 0.5);
    state.counters["read_p99_ms"] = quantile(reads, 0.99);
}
BENCHMARK(ReadWhileWriting)->Iterations(300)->UseRealTime();

}  // namespace
}  // namespace quire::store
