// The engine alone. Replay/TRACE is one sequential trace through the document, in one commit; the
// traces are read from $QUIRE_TRACES, and where they are absent a benchmark says so and is left
// out.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/list.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "seq/rope.h"
#include "tests/traces/traces.h"

namespace quire {
namespace {

using namespace crdt;

const ContainerId kText = ContainerId::root("text", ContainerKind::text);

// Each trace is read once.
const traces::Sequential* sequential(const std::string& name) {
    static std::map<std::string, std::optional<traces::Sequential>> read;
    const auto [at, added] = read.try_emplace(name);
    if (added) at->second = traces::sequential(name);
    return at->second ? &*at->second : nullptr;
}

const std::vector<Change>* concurrent(const std::string& name, std::string* end) {
    struct History {
        std::vector<Change> changes;
        std::string end;
    };
    static std::map<std::string, std::optional<History>> read;
    const auto [at, added] = read.try_emplace(name);
    if (added) {
        if (const auto trace = traces::concurrent(name)) {
            // The histories of many writers are taken by position: a replica for each would take
            // minutes.
            const bool few = trace->agents < 10;
            at->second = History{
                few ? traces::as_changes(*trace, kText) : traces::as_positions(*trace, kText),
                trace->end};
        }
    }
    if (!at->second) return nullptr;
    *end = at->second->end;
    return &at->second->changes;
}

void edit(Doc& doc, Handle text, const traces::Patch& patch) {
    if (patch.erase > 0) CHECK(doc.text(text).erase({patch.at}, {patch.erase}).has_value());
    if (!patch.insert.empty()) CHECK(doc.text(text).insert({patch.at}, patch.insert).has_value());
}

void replay(benchmark::State& state, const std::string& name) {
    const traces::Sequential* trace = sequential(name);
    if (trace == nullptr) return state.SkipWithError("no such trace below $QUIRE_TRACES");
    for (auto _ : state) {
        Doc doc(1);
        const Handle text = doc.open(kText);
        for (const traces::Patch& patch : trace->patches) edit(doc, text, patch);
        doc.commit({.want_diff = false});
        if (doc.text(text).rope().bytes().n != trace->end.size())
            state.SkipWithError("the text differs");
        benchmark::DoNotOptimize(doc);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(trace->patches.size()) * state.iterations());
}

void replay_commit_per_edit(benchmark::State& state, bool want_diff) {
    const traces::Sequential* trace = sequential("automerge-paper");
    if (trace == nullptr) return state.SkipWithError("no such trace below $QUIRE_TRACES");
    for (auto _ : state) {
        Doc doc(1);
        const Handle text = doc.open(kText);
        for (const traces::Patch& patch : trace->patches) {
            edit(doc, text, patch);
            doc.commit({.want_diff = want_diff});
        }
        if (doc.text(text).rope().bytes().n != trace->end.size())
            state.SkipWithError("the text differs");
    }
}

// The floor: the same edits on a rope and nothing else.
void bare_rope(benchmark::State& state) {
    const traces::Sequential* trace = sequential("automerge-paper");
    if (trace == nullptr) return state.SkipWithError("no such trace below $QUIRE_TRACES");
    for (auto _ : state) {
        seq::Rope rope;
        for (const traces::Patch& patch : trace->patches) {
            rope.erase({patch.at}, {patch.erase});
            rope.insert({patch.at}, patch.insert);
        }
        benchmark::DoNotOptimize(rope);
    }
}

std::vector<Change> history_of(const traces::Sequential& trace) {
    Doc doc(1);
    const Handle text = doc.open(kText);
    for (const traces::Patch& patch : trace.patches) edit(doc, text, patch);
    doc.commit({.want_diff = false});
    return doc.changes_since({}).changes();
}

void load_sequential(benchmark::State& state, const std::string& name) {
    const traces::Sequential* trace = sequential(name);
    if (trace == nullptr) return state.SkipWithError("no such trace below $QUIRE_TRACES");
    const std::vector<Change> changes = history_of(*trace);
    for (auto _ : state) {
        state.PauseTiming();
        std::vector<Change> copy = changes;
        state.ResumeTiming();
        Doc doc(2);
        CHECK(doc.import(std::move(copy), {.want_diff = false}).has_value());
        if (doc.text(doc.open(kText)).rope().bytes().n != trace->end.size())
            state.SkipWithError("the text differs");
    }
}

void export_all(benchmark::State& state) {
    const traces::Sequential* trace = sequential("automerge-paper");
    if (trace == nullptr) return state.SkipWithError("no such trace below $QUIRE_TRACES");
    for (auto _ : state) {
        state.PauseTiming();
        Doc doc(1);
        const Handle text = doc.open(kText);
        for (const traces::Patch& patch : trace->patches) edit(doc, text, patch);
        doc.commit({.want_diff = false});
        state.ResumeTiming();
        benchmark::DoNotOptimize(doc.changes_since({}).changes());
    }
}

void import_concurrent(benchmark::State& state, const std::string& name, bool one_by_one) {
    std::string end;
    const std::vector<Change>* changes = concurrent(name, &end);
    if (changes == nullptr) return state.SkipWithError("no such trace below $QUIRE_TRACES");
    for (auto _ : state) {
        state.PauseTiming();
        std::vector<Change> copy = *changes;
        state.ResumeTiming();
        Doc doc(1000);
        if (one_by_one) {
            for (Change& change : copy) {
                std::vector<Change> one;
                one.push_back(std::move(change));
                CHECK(doc.import(std::move(one), {.want_diff = false}).has_value());
            }
        } else {
            CHECK(doc.import(copy, {.want_diff = false}).has_value());
        }
        // The text recorded for A2 depends on names that the recording leaves out.
        const bool exact = name != "A2-git-makefile";
        const std::string text = doc.text(doc.open(kText)).rope().str();
        if (exact ? text != end : text.size() != end.size())
            state.SkipWithError("the text differs");
    }
}

// A line somewhere in a text of 100 MB, found, replaced and committed.
void edit_random_line(benchmark::State& state) {
    std::string big;
    for (int i = 0; big.size() < 100'000'000; ++i)
        big += "line " + std::to_string(i) + " of a long, long text\n";
    Doc doc(1);
    const Handle text = doc.open(kText);
    CHECK(doc.text(text).insert({0}, big).has_value());
    doc.commit({.want_diff = false});
    CHECK(doc.text(text).rope().bytes().n == big.size());
    std::mt19937_64 random(1);
    for (auto _ : state) {
        const seq::Rope& rope = doc.text(text).rope();
        const text::Line line{static_cast<std::size_t>(random() % rope.lines().n)};
        const text::CodePoint from = rope.to_code_point(rope.line_start(line));
        const text::CodePoint to = rope.to_code_point(rope.line_start({line.n + 1}));
        CHECK(doc.text(text).erase(from, to - from).has_value());
        CHECK(doc.text(text).insert(from, "another line\n").has_value());
        benchmark::DoNotOptimize(doc.commit());
        const Frontiers heads = doc.frontiers();
        benchmark::DoNotOptimize(heads);
    }
}

// N peers write one character each at once; a relay takes them in one by one. Linear in N.
void concurrent_peers(benchmark::State& state) {
    Doc base(1);
    CHECK(base.text(base.open(kText)).insert({0}, std::string(1000, 'x')).has_value());
    base.commit();
    const std::vector<Change> start = base.changes_since({}).changes();
    std::vector<Change> changes;
    for (PeerId peer = 2; peer < 2 + static_cast<PeerId>(state.range(0)); ++peer) {
        Doc doc(peer);
        CHECK(doc.import(start).has_value());
        CHECK(doc.text(doc.open(kText)).insert({peer * 37 % 1000}, "y").has_value());
        changes.push_back(doc.changes_in(std::vector{doc.commit().span}).changes().at(0));
    }
    for (auto _ : state) {
        Doc doc(1'000'000);
        CHECK(doc.import(start).has_value());
        for (const Change& change : changes) CHECK(doc.import({change}).has_value());
        CHECK(doc.text(doc.open(kText)).rope().bytes().n == 1000 + changes.size());
    }
    state.SetItemsProcessed(state.range(0) * state.iterations());
}

// Two peers each write, swap, and again. Linear in the rounds.
void ping_pong(benchmark::State& state) {
    for (auto _ : state) {
        Doc a(1);
        Doc b(2);
        const Handle in_a = a.open(kText);
        const Handle in_b = b.open(kText);
        for (std::int64_t i = 0; i < state.range(0); ++i) {
            CHECK(a.text(in_a).insert({0}, "a").has_value());
            CHECK(b.text(in_b).insert({b.text(in_b).rope().code_points().n}, "b").has_value());
            auto from_a = a.changes_in(std::vector{a.commit().span}).changes();
            auto from_b = b.changes_in(std::vector{b.commit().span}).changes();
            CHECK(a.import(std::move(from_b)).has_value());
            CHECK(b.import(std::move(from_a)).has_value());
        }
        CHECK(a.text(in_a).rope() == b.text(in_b).rope());
    }
    state.SetItemsProcessed(state.range(0) * state.iterations());
}

// Marks of up to 50 characters, a commit with its diff after each.
void marks(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        Doc doc(1);
        const Handle text = doc.open(kText);
        CHECK(doc.text(text).insert({0}, std::string(count, 'x')).has_value());
        doc.commit();
        std::mt19937_64 random(1);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t begin = random() % (count - 1);
            const std::size_t end = begin + 1 + random() % std::min<std::size_t>(50, count - begin);
            const char* key = i % 2 == 0 ? "bold" : "link";
            CHECK(doc.text(text)
                      .mark({begin}, {std::min(end, count)}, key, static_cast<std::int64_t>(i))
                      .has_value());
            benchmark::DoNotOptimize(doc.commit({.want_diff = true}));
        }
        benchmark::DoNotOptimize(doc.text(text).delta());
    }
}

void list_push(benchmark::State& state) {
    const ContainerId list = ContainerId::root("list", ContainerKind::list);
    for (auto _ : state) {
        Doc doc(1);
        const Handle at = doc.open(list);
        for (std::size_t i = 0; i < 100'000; ++i) {
            CHECK(doc.list(at).insert(i, static_cast<std::int64_t>(i)).has_value());
        }
        doc.commit({.want_diff = false});
        benchmark::DoNotOptimize(doc.list(at).id(5000));
    }
}

// 10,000 elements and 50,000 moves of any one to anywhere.
void move_about(Doc& doc, Handle list) {
    for (std::size_t i = 0; i < 10'000; ++i)
        CHECK(doc.movable_list(list).insert(i, static_cast<std::int64_t>(i)).has_value());
    std::mt19937_64 random(1);
    for (int i = 0; i < 50'000; ++i) {
        const auto from = static_cast<std::size_t>(random() % 10'000);
        const auto to = static_cast<std::size_t>(random() % 10'000);
        CHECK(doc.movable_list(list).move(from, to).has_value());
    }
    doc.commit({.want_diff = false});
}

const ContainerId kMovable = ContainerId::root("list", ContainerKind::movable_list);

void movable_moves(benchmark::State& state) {
    for (auto _ : state) {
        Doc doc(1);
        const Handle list = doc.open(kMovable);
        move_about(doc, list);
        benchmark::DoNotOptimize(doc.movable_list(list).get(5000));
    }
}

void movable_load(benchmark::State& state) {
    Doc writer(1);
    move_about(writer, writer.open(kMovable));
    const std::vector<Change> changes = writer.changes_since({}).changes();
    for (auto _ : state) {
        state.PauseTiming();
        std::vector<Change> copy = changes;
        state.ResumeTiming();
        Doc doc(2);
        CHECK(doc.import(std::move(copy), {.want_diff = false}).has_value());
        benchmark::DoNotOptimize(doc.movable_list(doc.open(kMovable)).get(5000));
    }
}

const ContainerId kTree = ContainerId::root("tree", ContainerKind::tree);

// A tree of 10,000 nodes, each of which was moved once.
std::vector<Change> tree_history() {
    Doc doc(1);
    const Handle tree = doc.open(kTree);
    std::mt19937_64 random(1);
    std::vector<OpId> nodes;
    const auto some = [&]() -> std::optional<OpId> {
        if (nodes.empty() || random() % 3 == 0) return std::nullopt;
        return nodes[random() % nodes.size()];
    };
    while (nodes.size() < 10'000) nodes.push_back(*doc.tree(tree).create(some()));
    for (const OpId node : nodes) {
        while (!doc.tree(tree).move(node, some(), 0)) {
            // Below itself: another parent.
        }
    }
    doc.commit();
    return doc.changes_since({}).changes();
}

void tree_import(benchmark::State& state) {
    const std::vector<Change> history = tree_history();
    for (auto _ : state) {
        Doc doc(2);
        CHECK(doc.import(history).has_value());
        CHECK(doc.tree(doc.open(kTree)).child_count() > 0);
    }
}

// A move by somebody who knew none of the moves, taken in and looked at.
void tree_late_move(benchmark::State& state) {
    const std::vector<Change> history = tree_history();
    for (auto _ : state) {
        state.PauseTiming();
        Doc doc(2);
        CHECK(doc.import(history).has_value());
        CHECK(doc.tree(doc.open(kTree)).child_count() > 0);
        const Change late{{3, 0}, {{1, 9'999}}, 0, 0, "", {{kTree, 0, TreeErase{{1, 5'000}}}}};
        state.ResumeTiming();
        CHECK(doc.import({late}).has_value());
        CHECK(doc.tree(doc.open(kTree)).child_count() > 0);
    }
}

void tree_commit_per_edit(benchmark::State& state) {
    for (auto _ : state) {
        Doc doc(1);
        const Handle tree = doc.open(kTree);
        for (std::size_t i = 0; i < 10'000; ++i) {
            CHECK(doc.tree(tree).create(std::nullopt, i / 2).has_value());
            benchmark::DoNotOptimize(doc.commit({.want_diff = true}));
        }
    }
}

void register_all() {
    using benchmark::kMillisecond;
    const auto add = [](const std::string& name, auto body) {
        return benchmark::RegisterBenchmark(name.c_str(), body)->Unit(kMillisecond);
    };
    for (const char* name : traces::kSequential) {
        const std::string trace = name;
        add("Replay/" + trace, [trace](benchmark::State& state) { replay(state, trace); });
        add("Load/" + trace, [trace](benchmark::State& state) { load_sequential(state, trace); });
    }
    add("BareRope/automerge-paper", bare_rope);
    add("CommitPerEdit/automerge-paper",
        [](benchmark::State& state) { replay_commit_per_edit(state, false); });
    add("CommitPerEditWithDiff/automerge-paper",
        [](benchmark::State& state) { replay_commit_per_edit(state, true); });
    add("Export/automerge-paper", export_all);
    for (const char* name :
         {"friendsforever", "clownschool", "A1-node_nodecc", "A2-git-makefile"}) {
        const std::string trace = name;
        add("Merge/" + trace,
            [trace](benchmark::State& state) { import_concurrent(state, trace, false); });
        add("MergeOneByOne/" + trace,
            [trace](benchmark::State& state) { import_concurrent(state, trace, true); });
    }
    add("EditRandomLine/100MB", edit_random_line)->Unit(benchmark::kMicrosecond);
    add("ConcurrentPeers", concurrent_peers)->Arg(250)->Arg(500)->Arg(1000)->Arg(4000);
    add("PingPong", ping_pong)->Arg(1000)->Arg(4000)->Arg(16000);
    add("Marks", marks)->Arg(10'000)->Arg(100'000);
    add("ListPush/100k", list_push);
    add("MovableMoves/10k+50k", movable_moves);
    add("MovableLoad/10k+50k", movable_load);
    add("TreeImport/10k+10k", tree_import);
    add("TreeLateMove/10k+10k", tree_late_move);
    add("TreeCommitPerEditWithDiff/10k", tree_commit_per_edit);
}

[[maybe_unused]] const bool kRegistered = (register_all(), true);

}  // namespace
}  // namespace quire
