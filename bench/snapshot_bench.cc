// Snapshots of a document with a long history: written, and taken in by its history. What peers do as well is
// among the tasks of engine_tasks.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/open_snapshot.h"
#include "codec/shallow_snapshot.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/history.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "tests/traces/traces.h"

namespace quire {
namespace {

using namespace crdt;

const ContainerId kText = ContainerId::root("text", ContainerKind::text);

// The automerge-paper trace as a document in one commit; none where the trace is absent.
const Doc* paper() {
    static const std::optional<Doc> doc = []() -> std::optional<Doc> {
        const auto trace = traces::sequential("automerge-paper");
        if (!trace) return std::nullopt;
        Doc made(1);
        const Handle text = made.open(kText);
        for (const traces::Patch& patch : trace->patches) {
            if (patch.erase > 0) CHECK(made.text(text).erase({patch.at}, {patch.erase}));
            if (!patch.insert.empty()) CHECK(made.text(text).insert({patch.at}, patch.insert));
        }
        made.commit({.want_diff = false});
        return made;
    }();
    return doc ? &*doc : nullptr;
}

const Bytes& blob() {
    static const Bytes written = codec::encode_snapshot(*paper()).value();
    return written;
}

template <class Work>
void run(benchmark::State& state, Work work) {
    if (paper() == nullptr) return state.SkipWithError("no such trace below $QUIRE_TRACES");
    static_cast<void>(blob());
    for (auto _ : state) work();
    state.counters["bytes"] = static_cast<double>(blob().size());
}

void export_snapshot(benchmark::State& state) {
    run(state, [] { benchmark::DoNotOptimize(codec::encode_snapshot(*paper()).value()); });
}

// From its history.
void import_and_read(benchmark::State& state) {
    run(state, [] {
        Doc doc(2);
        CHECK(doc.import(codec::decode_history(blob()).value(), {.want_diff = false}));
        CHECK(doc.text(doc.open(kText)).rope().str().size() > 100'000);
    });
}

void edit_and_send(Doc& doc) {
    const VersionVector before = doc.version();
    CHECK(doc.text(doc.open(kText)).insert({1000}, "edit"));
    doc.commit();
    CHECK(codec::encode_updates(doc.changes_since(before)).size() > 20);
}

void import_edit_send(benchmark::State& state) {
    run(state, [] {
        Doc doc(2);
        CHECK(doc.import(codec::decode_history(blob()).value(), {.want_diff = false}));
        edit_and_send(doc);
    });
}

// The state first, all of the history afterwards.
void open_and_load(benchmark::State& state) {
    run(state, [] {
        Doc doc(2);
        CHECK(codec::open_snapshot(doc, blob()).value());
        CHECK(doc.history().load());
    });
}

// A list of 12,000 elements, of which 2,000 are deleted; the rest are set and moved 20,000 times.
const Doc& list() {
    static const Doc doc = [] {
        Doc made(1);
        const Handle at = made.open(ContainerId::root("list", ContainerKind::movable_list));
        for (std::size_t i = 0; i < 12'000; ++i)
            CHECK(made.movable_list(at).insert(i, static_cast<std::int64_t>(i)));
        for (std::size_t i = 0; i < 2'000; ++i) CHECK(made.movable_list(at).erase(i * 5, 1));
        std::mt19937_64 random(1);
        for (int i = 0; i < 10'000; ++i) {
            CHECK(made.movable_list(at).set(random() % 10'000, i));
            CHECK(made.movable_list(at).move(random() % 10'000, random() % 10'000));
        }
        made.commit({.want_diff = false});
        return made;
    }();
    return doc;
}

// From the middle of its history on.
void export_shallow_list(benchmark::State& state) {
    std::size_t bytes = 0;
    for (auto _ : state)
        bytes = codec::encode_shallow_snapshot(list(), {{1, 20'000}}).value().size();
    state.counters["bytes"] = static_cast<double>(bytes);
}

void export_shallow(benchmark::State& state) {
    run(state, [] {
        const auto ops = static_cast<Counter>(paper()->history().op_count());
        benchmark::DoNotOptimize(codec::encode_shallow_snapshot(*paper(), {{1, ops / 2}}).value());
    });
}

BENCHMARK(export_shallow_list)->Name("Snapshot/export_shallow_list")->Unit(benchmark::kMillisecond);
BENCHMARK(export_shallow)->Name("Snapshot/export_shallow")->Unit(benchmark::kMillisecond);
BENCHMARK(export_snapshot)->Name("Snapshot/export")->Unit(benchmark::kMillisecond);
BENCHMARK(import_and_read)->Name("Snapshot/import_and_read")->Unit(benchmark::kMillisecond);
BENCHMARK(open_and_load)->Name("Snapshot/open_and_load")->Unit(benchmark::kMillisecond);
BENCHMARK(import_edit_send)->Name("Snapshot/import_edit_send")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace quire
