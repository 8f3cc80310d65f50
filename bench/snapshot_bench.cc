// Snapshots of a document with a long history: written, and taken in by its history. What peers do as well is
// among the tasks of engine_tasks.
#include <algorithm>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/open_snapshot.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/history.h"
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

BENCHMARK(export_snapshot)->Name("Snapshot/export")->Unit(benchmark::kMillisecond);
BENCHMARK(import_and_read)->Name("Snapshot/import_and_read")->Unit(benchmark::kMillisecond);
BENCHMARK(open_and_load)->Name("Snapshot/open_and_load")->Unit(benchmark::kMillisecond);
BENCHMARK(import_edit_send)->Name("Snapshot/import_edit_send")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace quire
