// Structured memory: what it costs to write a block and to show it.
#include <benchmark/benchmark.h>

#include "base/concat.h"
#include "memory/memory_edit.h"
#include "memory/render.h"

namespace {

using namespace quire;  // NOLINT: a benchmark reads better without the project's name.

const memory::Writer kWriter{{policy::ActorKind::agent, "ada"},
                             {policy::Permission::admin, policy::Deleting::owner}};
constexpr std::int64_t kNow = 1'737'642'725'000;

void must(const Result<void>& result) {
    if (!result) std::abort();
}

// A Map of 100 fields, all set: 60 short texts, 20 numbers, 10 counters, 10 lists of five.
struct Profile {
    Profile() {
        memory::MapSchema map;
        for (int i = 0; i < 100; ++i) {
            const memory::FieldType type = i < 60   ? memory::FieldType::text
                                           : i < 80 ? memory::FieldType::number
                                           : i < 90 ? memory::FieldType::counter
                                                    : memory::FieldType::list;
            map.fields.push_back({.name = cat("field_", i), .type = type});
        }
        block = {.label = "profile", .schema = std::move(map)};
        memory::MemoryEdit edit(doc, block, kWriter, kNow);
        for (int i = 0; i < 100; ++i) {
            const memory::FieldPath path{"", cat("field_", i)};
            if (i < 60) must(edit.set_field(path, cat("the value of field ", i)));
            if (i >= 60 && i < 90) must(edit.set_field(path, i));
            if (i >= 90) must(edit.set_field(path, List{"a", "b", "c", "d", i}));
        }
        doc.commit();
    }
    memory::MemoryReader reader() { return {doc, block.schema}; }

    crdt::Doc doc{1};
    memory::MemoryBlock block;
};

void map_of_100_fields_cached(benchmark::State& state) {
    Profile profile;
    memory::RenderCache cache;
    for (auto _ : state)
        benchmark::DoNotOptimize(cache.get(profile.reader(), profile.block, {}).size());
}
BENCHMARK(map_of_100_fields_cached)
    ->Name("StructuredMemory/map_100_cached")
    ->Unit(benchmark::kMicrosecond);

void map_of_100_fields_fresh(benchmark::State& state) {
    Profile profile;
    for (auto _ : state)
        benchmark::DoNotOptimize(memory::render(profile.reader(), profile.block, {}).size());
}
BENCHMARK(map_of_100_fields_fresh)
    ->Name("StructuredMemory/map_100_fresh")
    ->Unit(benchmark::kMicrosecond);

void map_set_field_and_commit(benchmark::State& state) {
    Profile profile;
    std::int64_t i = 0;
    for (auto _ : state) {
        memory::MemoryEdit edit(profile.doc, profile.block, kWriter, kNow);
        must(edit.set_field({"", "field_70"}, ++i));
        profile.doc.commit();
    }
}
BENCHMARK(map_set_field_and_commit)
    ->Name("StructuredMemory/set_field")
    ->Unit(benchmark::kMicrosecond);

struct Journal {
    explicit Journal(std::int64_t entries) {
        memory::MemoryEdit edit(doc, block, kWriter, kNow);
        for (std::int64_t i = 0; i < entries; ++i) must(edit.append_entry("", cat("entry ", i)));
        doc.commit();
    }
    memory::MemoryReader reader() { return {doc, block.schema}; }

    crdt::Doc doc{1};
    memory::MemoryBlock block{.label = "log", .schema = memory::LogSchema{50}};
};

void log_append_and_commit(benchmark::State& state) {
    Journal journal(state.range(0));
    for (auto _ : state) {
        memory::MemoryEdit edit(journal.doc, journal.block, kWriter, kNow);
        must(edit.append_entry("", "one more"));
        journal.doc.commit();
    }
}
BENCHMARK(log_append_and_commit)
    ->Name("StructuredMemory/log_append")
    ->Arg(1'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMicrosecond);

void log_newest_50_fresh(benchmark::State& state) {
    Journal journal(state.range(0));
    for (auto _ : state)
        benchmark::DoNotOptimize(memory::render(journal.reader(), journal.block, {}).size());
}
BENCHMARK(log_newest_50_fresh)
    ->Name("StructuredMemory/log_newest_50")
    ->Arg(1'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMicrosecond);

void text_of_10_mb_fresh(benchmark::State& state) {
    crdt::Doc doc(1);
    const memory::MemoryBlock block{.label = "text"};
    std::string text;
    while (text.size() < (10U << 20)) text += "a line of text, as there are many of them\n";
    memory::MemoryEdit edit(doc, block, kWriter, kNow);
    must(edit.append_text("", text));
    doc.commit();
    for (auto _ : state)
        benchmark::DoNotOptimize(
            memory::render({doc, block.schema}, block, {.text_bytes = 64 << 10}).size());
}
BENCHMARK(text_of_10_mb_fresh)->Name("StructuredMemory/text_10_mb")->Unit(benchmark::kMicrosecond);

}  // namespace
