// Recorded histories end in the recorded text: through the API, and as changes of concurrent
// writers.
#include "tests/traces/traces.h"

#include <algorithm>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "crdt/doc/doc.h"
#include "crdt/doc/text.h"
#include "tests/model/model.h"

namespace quire {
namespace {

using namespace crdt;

const ContainerId kText = ContainerId::root("text", ContainerKind::text);

#define SKIP_WITHOUT(trace, name)                                        \
    if (!(trace)) {                                                      \
        std::printf("skipped: no trace " name " below $QUIRE_TRACES\n"); \
        GTEST_SKIP() << "no trace " name " below $QUIRE_TRACES";         \
    }

void replay(const traces::Sequential& trace) {
    Doc doc(1);
    const Handle text = doc.open(kText);
    for (const traces::Patch& patch : trace.patches) {
        ASSERT_TRUE(doc.text(text).erase({patch.at}, {patch.erase}));
        ASSERT_TRUE(doc.text(text).insert({patch.at}, patch.insert));
    }
    doc.commit({.want_diff = false});
    EXPECT_EQ(doc.text(text).rope().str(), trace.end);

    Doc other(2);
    ASSERT_TRUE(other.import(doc.changes_since({}), {.want_diff = false}));
    EXPECT_EQ(other.text(other.open(kText)).rope().str(), trace.end);
}

TEST(Traces, TheShippedTraceEndsInItsText) {
    replay(traces::shipped(QUIRE_SOURCE_DIR));
}

TEST(Traces, EverySequentialTraceEndsInTheRecordedText) {
    for (const char* name : traces::kSequential) {
        SCOPED_TRACE(name);
        const auto trace = traces::sequential(name);
        SKIP_WITHOUT(trace, "sequential");
        replay(*trace);
    }
}

void converge(const traces::Concurrent& trace, const std::vector<Change>& changes) {
    Doc at_once(1000);
    ASSERT_TRUE(at_once.import(changes, {.want_diff = false}));
    EXPECT_EQ(at_once.text(at_once.open(kText)).rope().str(), trace.end);

    Doc one_by_one(1001);
    for (const Change& change : changes)
        ASSERT_TRUE(one_by_one.import({change}, {.want_diff = false}));
    EXPECT_EQ(one_by_one.text(one_by_one.open(kText)).rope().str(), trace.end);
    EXPECT_EQ(one_by_one.version(), at_once.version());
}

TEST(Traces, FriendsforeverConverges) {
    const auto trace = traces::concurrent("friendsforever");
    SKIP_WITHOUT(trace, "friendsforever");
    converge(*trace, traces::as_changes(*trace, kText));
}

TEST(Traces, ClownschoolConverges) {
    const auto trace = traces::concurrent("clownschool");
    SKIP_WITHOUT(trace, "clownschool");
    converge(*trace, traces::as_changes(*trace, kText));
}

TEST(Traces, AGitHistoryOfManyWritersConverges) {
    const auto trace = traces::concurrent("A1-node_nodecc");
    SKIP_WITHOUT(trace, "A1-node_nodecc");
    converge(*trace, traces::as_positions(*trace, kText));
}

// Its writers insert at one place at once, and the recorded text depends on the order of their
// names, which the recording leaves out. What must hold is that the order of arrival does not
// matter.
TEST(Traces, AGitHistoryWithTiesComesOutTheSameInAnyOrderOfArrival) {
    const auto trace = traces::concurrent("A2-git-makefile");
    SKIP_WITHOUT(trace, "A2-git-makefile");
    if (std::getenv("QUIRE_LONG") == nullptr) GTEST_SKIP() << "set QUIRE_LONG=1 for the history A2";
    std::vector<Change> changes = traces::as_positions(*trace, kText);
    Doc at_once(1000);
    ASSERT_TRUE(at_once.import(changes, {.want_diff = false}));
    std::shuffle(changes.begin(), changes.end(), std::mt19937_64(3));

    Doc shuffled(1001);
    ASSERT_TRUE(shuffled.import(changes, {.want_diff = false}));

    EXPECT_TRUE(at_once.text(at_once.open(kText)).rope() ==
                shuffled.text(shuffled.open(kText)).rope());
    EXPECT_EQ(at_once.text(at_once.open(kText)).rope().bytes().n, trace->end.size());
    EXPECT_EQ(at_once.version(), shuffled.version());
}

TEST(Traces, EveryGraphOfTheConformanceSetEndsInTheRecordedText) {
    const auto graphs = traces::conformance();
    SKIP_WITHOUT(graphs, "conformance");
    EXPECT_EQ(graphs->size(), 1000U);
    std::mt19937_64 random(7);
    for (std::size_t i = 0; i < graphs->size(); ++i) {
        SCOPED_TRACE(i);
        const traces::Graph& graph = (*graphs)[i];
        Doc at_once(1);
        ASSERT_TRUE(at_once.import(graph.changes));
        ASSERT_EQ(at_once.text(at_once.open(kText)).rope().str(), graph.end);
        Doc shuffled(1);
        std::vector<Change> changes = graph.changes;
        std::shuffle(changes.begin(), changes.end(), random);
        for (const Change& change : changes) ASSERT_TRUE(shuffled.import({change}));
        ASSERT_EQ(shuffled.text(shuffled.open(kText)).rope().str(), graph.end);
        if (i % 20 > 0) continue;
        crdt::check_invariants(at_once);
        crdt::check_invariants(shuffled);
        ASSERT_EQ(*model::replay(graph.changes).get("text"), Value(graph.end));
    }
}

}  // namespace
}  // namespace quire
