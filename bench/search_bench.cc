// Memory of 10^5 blocks: opening its workspace, and searching it. One store in a directory of its
// own (QUIRE_BENCH_DIR, or the temporary one), filled by the calls that agents make.
#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <semaphore>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/oversight/overseer.h"
#include "sched/scheduler.h"
#include "store/store.h"

namespace {

using namespace quire;  // NOLINT: a benchmark reads better without the project's name.
using Time = std::chrono::steady_clock;

constexpr int kBlocks = 100'000;
constexpr int kAtOnce = 10'000;  // Blocks that one kernel makes: it keeps them in memory.
constexpr int kWords = 40;       // In each block.
constexpr std::ptrdiff_t kInFlight = 500;

double ms_since(Time::time_point start) {
    return std::chrono::duration<double, std::milli>(Time::now() - start).count();
}

// A word that few texts have, or, with a low number, many.
std::string word(unsigned number) {
    return cat("w", number);
}

// Makes the blocks' texts: words by Zipf's law, more or less, the same in every run.
class Texts {
public:
    std::string next() {
        std::string out;
        for (int i = 0; i < kWords; ++i) cat_to(out, cat(i == 0 ? "" : " ", word(number())));
        return out;
    }

private:
    unsigned number() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        const double even = static_cast<double>(state_ >> 40) / static_cast<double>(1U << 24);
        return static_cast<unsigned>(1 / (even + 1e-4));
    }
    std::uint64_t state_ = 1;
};

// A workspace, open.
class Workspace {
public:
    explicit Workspace(const std::string& path)
        : store_(std::move(store::open_sqlite(path)->store)),
          kernel_(*kernel::open_kernel({*store_, pool_, clock_, rng_, {}, nullptr})),
          calls_(std::make_unique<kernel::MemoryCalls>(*kernel_)) {}
    ~Workspace() {
        std::promise<void> closed;
        kernel_->close([&](Result<void>) { closed.set_value(); });
        closed.get_future().wait();
    }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    static kernel::Caller by() { return {policy::Actor::parse("agent:ada").value(), 0, {}}; }

    void fill(int from, int to, Texts& texts) {
        std::counting_semaphore<> room(kInFlight);
        for (int i = from; i < to; ++i) {
            room.acquire();
            kernel::MemoryCreate what;
            what.label = cat("block_", i);
            what.schema = Value("Text");
            what.description = cat("of ", word(static_cast<unsigned>(i % 1000)));
            calls_->create(by(), what,
                           [this, &room, label = what.label,
                            text = texts.next()](Result<kernel::MemoryVersion> made) {
                               if (!made) std::abort();
                               calls_->write(by(), label, kernel::AppendContent{"", Value(text)},
                                             [&room](Result<kernel::MemoryWritten> written) {
                                                 if (!written) std::abort();
                                                 room.release();
                                             });
                           });
        }
        for (std::ptrdiff_t i = 0; i < kInFlight; ++i) room.acquire();
    }

    std::size_t search(const std::string& query) {
        std::promise<std::size_t> found;
        calls_->search(by(), {query, {}, 20}, [&](Result<kernel::MemoryFound> answer) {
            if (!answer) std::abort();
            found.set_value(answer->hits.size());
        });
        return found.get_future().get();
    }

private:
    std::unique_ptr<store::Store> store_;
    sched::Pool pool_{2};
    SystemClock clock_;
    SystemRng rng_;
    std::unique_ptr<kernel::Kernel> kernel_;
    std::unique_ptr<kernel::MemoryCalls> calls_;
};

// The directory, filled once.
class Filled {
public:
    Filled() {
        Texts texts;
        const Time::time_point start = Time::now();
        for (int i = 0; i < kBlocks; i += kAtOnce) Workspace(path()).fill(i, i + kAtOnce, texts);
        filled_in_s_ = ms_since(start) / 1000;
    }

    std::string path() const { return directory_ / "quire.db"; }
    double writes_per_second() const { return 2 * kBlocks / filled_in_s_; }

private:
    TestDirectory directory_{TestDirectory::parent_in("QUIRE_BENCH_DIR")};
    double filled_in_s_ = 0;
};

Filled& filled() {
    static Filled once;
    return once;
}

void open_workspace(benchmark::State& state) {
    const std::string path = filled().path();
    for (auto _ : state) {
        const Time::time_point start = Time::now();
        const Workspace workspace(path);
        state.SetIterationTime(ms_since(start) / 1000);
    }
    state.counters["writes/s"] = filled().writes_per_second();
}
BENCHMARK(open_workspace)
    ->Name("MemorySearch/open_100000_blocks")
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(5);

void search(benchmark::State& state) {
    Workspace workspace(filled().path());
    // Words that most blocks have, some, and few; and what else a query can say.
    const std::vector<std::string> queries = {
        "w1",      "w7",        "w40",     "w300",           "w2500",        "w9000",
        "w12 w30", "\"w5 w6\"", "w60 -w3", "label:block_77", "w100 label:9", "nowhere"};
    const Time::time_point start = Time::now();
    workspace.search("w9999");
    state.counters["first_ms"] = ms_since(start);
    std::vector<double> times;
    std::size_t next = 0;
    for (auto _ : state) {
        const Time::time_point began = Time::now();
        benchmark::DoNotOptimize(workspace.search(queries[next++ % queries.size()]));
        times.push_back(ms_since(began));
    }
    std::sort(times.begin(), times.end());
    state.counters["p50_ms"] = times[times.size() / 2];
    state.counters["p95_ms"] = times[times.size() * 95 / 100];
}
BENCHMARK(search)
    ->Name("MemorySearch/search_100000_blocks")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(240);

}  // namespace
