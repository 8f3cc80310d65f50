// The heap that a document holds, as the allocator counts it; the times say nothing.
#include <functional>
#include <memory>
#include <optional>

#include <benchmark/benchmark.h>
#include <malloc.h>

#include "base/check.h"
#include "bench/workloads.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/text.h"

namespace quire::bench {
namespace {

using namespace crdt;

constexpr const char* kPaper = "automerge-paper";

void memory(benchmark::State& state, const std::function<std::unique_ptr<Doc>()>& make) {
    for (auto _ : state) {
        const std::size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
        const std::unique_ptr<Doc> doc = make();
        if (doc == nullptr) return state.SkipWithError("no such trace below $QUIRE_TRACES");
        const std::size_t after = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
        state.counters["heap"] = static_cast<double>(after - before);
        state.counters["text"] =
            static_cast<double>(doc->text(doc->open(text_id())).rope().bytes().n);
    }
}

// The trace and its updates, which are no part of a document.
const std::optional<Bytes>& paper_history() {
    static const std::optional<Bytes> history = history_of(kPaper);
    return history;
}

std::unique_ptr<Doc> loaded() {
    const std::optional<Bytes>& history = paper_history();
    if (!history) return nullptr;
    auto doc = std::make_unique<Doc>(2);
    CHECK(doc->import(codec::decode_updates(*history).value()));
    benchmark::DoNotOptimize(doc->text(doc->open(text_id())).rope().bytes().n);
    return doc;
}

// Live text that only ever grew at its end, and that is read at last, or after each commit.
std::unique_ptr<Doc> appended(bool is_read) {
    auto doc = std::make_unique<Doc>(2);
    const Handle text = doc->open(text_id());
    for (std::size_t i = 0; i < 100'000; ++i) {
        CHECK(doc->text(text).insert({i * 80}, std::string(79, 'x') + "\n").has_value());
        if (i % 10 != 0) continue;
        doc->commit();
        if (is_read) benchmark::DoNotOptimize(doc->text(text).rope().bytes().n);
    }
    doc->commit();
    benchmark::DoNotOptimize(doc->text(text).rope().bytes().n);
    return doc;
}

void register_all() {
    paper_history();
    const auto add = [](const std::string& name, std::unique_ptr<Doc> (*make)()) {
        benchmark::RegisterBenchmark(name.c_str(),
                                     [make](benchmark::State& state) { memory(state, make); })
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
    };
    add("Memory/automerge-paper", loaded);
    add("Memory/append_only", [] { return appended(false); });
    add("Memory/append_and_read", [] { return appended(true); });
}

[[maybe_unused]] const bool kRegistered = (register_all(), true);

}  // namespace
}  // namespace quire::bench
