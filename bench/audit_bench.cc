// Measures what the audit log costs the thread that a call runs on: the entry before a call that
// changes something and the one after it, and the one after a call that reads. The store writes
// them later, on its own thread: look at the CPU time.
#include <string>

#include <benchmark/benchmark.h>

#include "base/clock.h"
#include "kernel/oversight/admission.h"
#include "kernel/oversight/audit.h"
#include "store/memory_store_for_test.h"

namespace quire::kernel {
namespace {

constexpr int kCalls = 50'000;

void call(benchmark::State& state, const std::string& tool, const Map& arguments, bool reads) {
    store::MemoryStore store;
    const SystemClock clock;
    AuditLog log(store, clock);
    Caller by{{policy::ActorKind::agent, "bench"}, 3, {}};
    by.call = std::make_shared<const Call>(
        Call{"model", tool, arguments, reads, log.number(), clock.steady_ms()});
    for (auto _ : state) {
        if (!log.begin(by)) state.SkipWithError("an entry was not taken");
        log.end(by, CallEnd{.touched = {"b1_2_45", 7}});
    }
    const auto entries = store.audit_after(0, kCalls);
    std::size_t bytes = 0;
    for (const store::AuditEntry& entry : *entries) bytes += entry.body.size();
    const std::size_t of_call = reads ? 1 : 2;
    if (!entries->empty())
        state.counters["bytes"] = static_cast<double>(of_call * bytes / entries->size());
}

void read(benchmark::State& state) {
    call(state, "block_view", {{"block_id", "b1_2_45"}, {"start", 1}, {"end", 40}}, true);
}
BENCHMARK(read)->Iterations(kCalls);

// The argument is the number of bytes that the call appends.
void change(benchmark::State& state) {
    const std::string content(static_cast<std::size_t>(state.range(0)), 'x');
    call(state, "block_append", {{"block_id", "b1_2_45"}, {"text", content}}, false);
}
BENCHMARK(change)->Arg(60)->Arg(1000)->Iterations(kCalls);
BENCHMARK(change)->Arg(1'000'000)->Iterations(100);

}  // namespace
}  // namespace quire::kernel
