// The engine from bytes to text: what a peer pays for what arrives. bench/node/engine_peers.mjs
// measures loro-crdt, Yjs, Automerge and diamond-types at the same work; scripts/run_bench.py sets
// them side by side by name.
#include <functional>
#include <memory>

#include <benchmark/benchmark.h>
#include <malloc.h>

#include "base/check.h"
#include "bench/workloads.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"

namespace quire::bench {
namespace {

using namespace crdt;

constexpr const char* kPaper = "automerge-paper";

std::size_t take_in(Doc& doc, const Bytes& blob) {
    ChangeBatch changes;
    CHECK(codec::read_updates(blob, changes).has_value());
    CHECK(doc.import(std::move(changes)).has_value());
    return doc.text(doc.open(text_id())).rope().bytes().n;
}

void import_all(benchmark::State& state, const std::optional<Merging>& merging) {
    if (!merging) return state.SkipWithError("no such trace below $QUIRE_TRACES");
    for (auto _ : state) {
        Doc doc(1'000'000);
        for (const Bytes& blob : merging->blobs) take_in(doc, blob);
        if (!merging->end.empty() && doc.text(doc.open(text_id())).rope().str() != merging->end)
            state.SkipWithError("the text differs");
    }
}

// A commit for each edit of the trace, and the bytes that a peer is sent for it.
void commit_and_send(benchmark::State& state) {
    const traces::Sequential* trace = sequential(kPaper);
    if (trace == nullptr) return state.SkipWithError("no such trace below $QUIRE_TRACES");
    for (auto _ : state) {
        Doc doc(1);
        const Handle text = doc.open(text_id());
        std::size_t sent = 0;
        ChangeBatch changes;
        codec::UpdatesWriter writer;
        for (const traces::Patch& patch : trace->patches) {
            if (patch.erase > 0) CHECK(doc.text(text).erase({patch.at}, {patch.erase}).has_value());
            if (!patch.insert.empty())
                CHECK(doc.text(text).insert({patch.at}, patch.insert).has_value());
            const IdSpan span = doc.commit().span;
            changes.clear();
            doc.changes_in(std::span(&span, 1), changes);
            sent += writer.write(changes).size();
        }
        benchmark::DoNotOptimize(sent);
        CHECK(doc.text(text).rope().bytes().n == trace->end.size());
    }
}

// To the middle of the history, reading the text there, and back, reading it again.
void check_out(benchmark::State& state, bool back) {
    const auto history = history_of(kPaper);
    if (!history) return state.SkipWithError("no such trace below $QUIRE_TRACES");
    Doc doc(2);
    take_in(doc, *history);
    const Handle text = doc.open(text_id());
    const Frontiers middle{{1, static_cast<Counter>(doc.history().op_count() / 2)}};
    for (auto _ : state) {
        if (back) state.PauseTiming();
        CHECK(doc.checkout(middle).has_value());
        benchmark::DoNotOptimize(doc.text(text).rope().bytes().n);
        back ? state.ResumeTiming() : state.PauseTiming();
        doc.checkout_to_latest();
        benchmark::DoNotOptimize(doc.text(text).rope().bytes().n);
        if (!back) state.ResumeTiming();
    }
}

// Two peers each write, swap bytes, and again. Linear in the rounds.
void ping_pong(benchmark::State& state) {
    for (auto _ : state) {
        Doc a(1);
        Doc b(2);
        const auto write = [](Doc& doc, std::size_t at) {
            CHECK(doc.text(doc.open(text_id())).insert({at}, "x").has_value());
            const IdSpan span = doc.commit().span;
            return codec::encode_updates(doc.changes_in(std::span(&span, 1)));
        };
        for (std::int64_t i = 0; i < state.range(0); ++i) {
            const Bytes from_a = write(a, 0);
            const Bytes from_b = write(b, b.text(b.open(text_id())).rope().code_points().n);
            take_in(a, from_b);
            take_in(b, from_a);
        }
        CHECK(a.text(a.open(text_id())).rope() == b.text(b.open(text_id())).rope());
    }
}

// The heap that a loaded history holds, as the allocator counts it; the time says nothing.
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

std::unique_ptr<Doc> loaded() {
    static const auto history = history_of(kPaper);
    if (!history) return nullptr;
    auto doc = std::make_unique<Doc>(2);
    take_in(*doc, *history);
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
    using benchmark::kMillisecond;
    const auto add = [](const std::string& name, auto body) {
        return benchmark::RegisterBenchmark(name.c_str(), body)->Unit(kMillisecond);
    };
    const auto merge = [&](const std::string& name, auto make) {
        add("Wire/" + name, [make](benchmark::State& state) { import_all(state, make()); });
    };
    add("Wire/commit_and_send", commit_and_send);
    merge("import_updates", []() -> std::optional<Merging> {
        auto history = history_of(kPaper);
        if (!history) return std::nullopt;
        return Merging{{std::move(*history)}, sequential(kPaper)->end};
    });
    for (const char* name :
         {"friendsforever", "clownschool", "A1-node_nodecc", "A2-git-makefile"}) {
        merge(std::string("import_") + name, [name] { return concurrent(name); });
    }
    merge("merge_two_branches", [] { return std::optional(two_branches(20'000)); });
    merge("merge_two_halves", [] { return two_halves(kPaper); });
    for (const std::size_t peers : {250, 500, 1000})
        merge("peers_" + std::to_string(peers),
              [peers] { return std::optional(many_peers(peers)); });
    add("Wire/ping_pong", ping_pong)->Arg(1000)->Arg(2000)->Arg(4000);
    add("Wire/checkout_middle", [](benchmark::State& state) { check_out(state, false); });
    add("Wire/checkout_back", [](benchmark::State& state) { check_out(state, true); });
    add("Memory/automerge-paper", [](benchmark::State& state) {
        memory(state, loaded);
    })->Iterations(1);
    add("Memory/append_only", [](benchmark::State& state) {
        memory(state, [] { return appended(false); });
    })->Iterations(1);
    add("Memory/append_and_read", [](benchmark::State& state) {
        memory(state, [] { return appended(true); });
    })->Iterations(1);
}

[[maybe_unused]] const bool kRegistered = (register_all(), true);

}  // namespace
}  // namespace quire::bench
