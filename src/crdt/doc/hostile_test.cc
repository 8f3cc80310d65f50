// What somebody can send on purpose: little that asks for much work, and histories that no replica
// would write. Where a test is about work, doing it in the obvious way takes many times as long, or
// the whole stack.
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "crdt/doc/doc.h"

namespace quire::crdt {
namespace {

const ContainerId kText = ContainerId::root("t", ContainerKind::text);
const ContainerId kList = ContainerId::root("l", ContainerKind::list);

Change change(OpId id, Frontiers deps, std::vector<Op> ops) {
    return {id, std::move(deps), 0, 0, "", std::move(ops)};
}
Change typing(OpId id, Frontiers deps, std::uint32_t pos, std::string text) {
    return change(id, std::move(deps), {{kText, id.counter, TextInsert{pos, std::move(text)}}});
}

template <class T>
std::string reason(const Result<T>& result) {
    return result ? "" : result.error().reason();
}

// --- containers ---

// A list in a list in a list, by one op each.
Change nested_lists(Counter count) {
    Change out = change({1, 0}, {}, {});
    ContainerId at = kList;
    for (Counter i = 0; i < count; ++i) {
        out.ops.push_back({at, i, ListInsert{0, {ContainerKind::list}}});
        at = ContainerId::normal({1, i}, ContainerKind::list);
    }
    return out;
}

TEST(Hostile, AContainerThatHoldsItselfIsNowhere) {
    const ContainerId self = ContainerId::normal({1, 0}, ContainerKind::list);
    const ContainerId first = ContainerId::normal({1, 1}, ContainerKind::list);
    const ContainerId second = ContainerId::normal({1, 2}, ContainerKind::list);
    Doc doc(9);
    ASSERT_TRUE(doc.import({change({1, 0}, {},
                                   {{self, 0, ListInsert{0, {ContainerKind::list}}},
                                    {second, 1, ListInsert{0, {ContainerKind::list}}},
                                    {first, 2, ListInsert{0, {ContainerKind::list}}},
                                    {kText, 3, TextInsert{0, "x"}}})},
                           {.want_diff = true}));

    EXPECT_FALSE(doc.is_alive(doc.open(self)));
    EXPECT_FALSE(doc.is_alive(doc.open(first)));
    EXPECT_EQ(doc.diff({}, doc.frontiers())->size(), 1U);
    ASSERT_TRUE(doc.checkout({{1, 2}}));
    EXPECT_FALSE(doc.is_alive(doc.open(self)));
    EXPECT_FALSE(doc.is_alive(doc.open(second)));
    EXPECT_EQ(doc.value(), Value(Map()));
}

TEST(Hostile, DiffsGoAsDeepAsValues) {
    constexpr Counter kDeep = 40'000;
    Doc doc(9);
    const auto subscription = doc.subscribe_root([](const Event&) {});

    const auto imported = doc.import({nested_lists(kDeep)}, {.want_diff = true});

    ASSERT_TRUE(imported);
    EXPECT_EQ(imported->diff.size(), std::size_t{kMaxValueDepth} + 1);
    EXPECT_EQ(doc.diff({}, doc.frontiers())->size(), imported->diff.size());
    const Handle deepest = doc.open(ContainerId::normal({1, kDeep - 1}, ContainerKind::list));
    EXPECT_TRUE(doc.is_alive(deepest));
    doc.detach();
    EXPECT_TRUE(doc.is_alive(deepest));
    ASSERT_TRUE(doc.checkout({{1, kDeep - 2}}));
    EXPECT_FALSE(doc.is_alive(deepest));
}

// --- versions ---

TEST(Hostile, AChangeMayDependOnAllThereIs) {
    constexpr Counter kMany = 200'000;
    Frontiers deps;
    for (Counter counter = 0; counter < kMany; ++counter) deps.push_back({1, counter});
    std::vector<Change> changes;
    // What is depended on comes later, bit by bit.
    changes.push_back(typing({2, 0}, deps, 0, "!"));
    for (Counter counter = 0; counter < kMany; ++counter)
        changes.push_back(typing({1, counter}, {}, static_cast<std::uint32_t>(counter), "x"));
    Doc doc(9);

    ASSERT_TRUE(doc.import(changes));

    EXPECT_EQ(doc.frontiers(), (Frontiers{{2, 0}}));
    EXPECT_EQ(doc.minimal(deps).value(), (Frontiers{{1, kMany - 1}}));
}

TEST(Hostile, ManyHeadsAreMergedAtOnce) {
    constexpr PeerId kPeers = 20'000;
    constexpr PeerId kLists = 64;
    const auto list_of = [&](PeerId peer) {
        return ContainerId::root(std::to_string(peer % kLists), ContainerKind::list);
    };
    std::vector<Change> changes;
    Frontiers heads;
    for (PeerId peer = 1; peer <= kPeers; ++peer) {
        const ContainerId list = list_of(peer);
        changes.push_back(change({peer, 0}, {}, {{list, 0, ListInsert{0, {Value(1)}}}}));
        heads.push_back({peer, 0});
    }
    Doc doc(9'999'999);
    ASSERT_TRUE(doc.import(changes));
    EXPECT_EQ(doc.frontiers(), heads);
    // Each of these looks at all heads of one list.
    std::vector<Change> merges;
    for (PeerId peer = 1; peer <= kLists; ++peer) {
        const ContainerId list = list_of(peer);
        merges.push_back(change({kPeers + peer, 0}, heads, {{list, 0, ListInsert{0, {Value(2)}}}}));
    }

    ASSERT_TRUE(doc.import(merges));

    EXPECT_EQ(doc.frontiers().size(), kLists);
}

// Few bytes each: peers who all delete the same text, and know nothing of each other.
TEST(Hostile, AHistoryEndsBeforeItsNumbersDo) {
    constexpr Counter kSize = 1 << 24;
    Doc doc(9);
    ASSERT_TRUE(doc.import({typing({1, 0}, {}, 0, std::string(kSize, 'x'))}));
    std::vector<Change> deletes;
    for (PeerId peer = 2; peer < 300; ++peer) {
        deletes.push_back(
            change({peer, 0}, {{1, kSize - 1}}, {{kText, 0, SequenceDelete{0, kSize, {1, 0}}}}));
    }

    EXPECT_EQ(reason(doc.import(deletes)), "too_large");

    EXPECT_EQ(doc.text(doc.open(kText)).bytes().n, std::size_t{kSize});
    EXPECT_EQ(doc.frontiers(), (Frontiers{{1, kSize - 1}}));
}

// --- what waits ---

TEST(Hostile, ManyChangesMayWaitForOne) {
    constexpr PeerId kMany = 100'000;
    std::vector<Change> waiting;
    for (PeerId peer = 2; peer < kMany; ++peer)
        waiting.push_back(typing({peer, 0}, {{1, 0}}, 0, "x"));
    Doc doc(9'999'999);

    EXPECT_EQ(doc.import(waiting)->pending.size(), kMany - 2);
    EXPECT_EQ(doc.waiting().size(), kMany - 2);
    // Another import pays for none of them.
    for (Counter counter = 0; counter < 2'000; ++counter)
        ASSERT_TRUE(doc.import({typing({1'000'000, counter}, {}, 0, "x")}));
}

TEST(Hostile, WhatWaitsUnsoundIsNotTriedForEver) {
    constexpr PeerId kMany = 20'000;
    std::vector<Change> waiting;
    for (PeerId peer = 2; peer < kMany; ++peer)
        waiting.push_back(typing({peer, 0}, {{1, 0}}, peer % 2 == 0 ? 0 : 999, "x"));
    Doc doc(9'999'999);
    ASSERT_TRUE(doc.import(waiting));

    const auto imported = doc.import({typing({1, 0}, {}, 0, "ab")});

    ASSERT_TRUE(imported);
    EXPECT_TRUE(doc.version().includes(OpId{1, 1}));
    EXPECT_TRUE(doc.waiting().empty());
    // Whoever has what was sound can send it again.
    const Change sound = typing({2, 0}, {{1, 0}}, 0, "x");
    ASSERT_TRUE(doc.import({sound}));
    EXPECT_TRUE(doc.version().includes(OpId{2, 0}));
    doc.check_invariants();
}

TEST(Hostile, WhatWaitsIsThereStillAfterARefusal) {
    Doc doc(9);
    ASSERT_TRUE(doc.import({typing({2, 0}, {{1, 1}}, 0, "x")}));
    const std::vector<IdSpan> waiting = doc.waiting();

    EXPECT_EQ(doc.import({typing({1, 0}, {}, 0, "ab"), typing({3, 0}, {}, 7, "x")}).error().code(),
              Errc::corrupt);

    EXPECT_EQ(doc.waiting(), waiting);
    ASSERT_TRUE(doc.import({typing({1, 0}, {}, 0, "ab")}));
    EXPECT_EQ(doc.text(doc.open(kText)).str(), "xab");
}

// --- times ---

TEST(Hostile, ATimeMayLieBeforeAllOthers) {
    Doc doc(1);
    doc.set_merge_interval(1000);
    Change early = typing({1, 0}, {}, 0, "a");
    early.timestamp = std::numeric_limits<std::int64_t>::min();
    ASSERT_TRUE(doc.import({early}));
    ASSERT_TRUE(doc.text_insert(doc.open(kText), {1}, "b"));

    doc.commit({.timestamp = 5});

    const auto changes = doc.changes_since({});
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_EQ(changes[1].timestamp, 5);
}

// --- diffs ---

TEST(Hostile, ADiffThatGoesBeyondAllBoundsIsRefused) {
    Doc doc(1);
    const Handle list = doc.open(kList);
    ASSERT_TRUE(doc.list_insert(list, 0, 1));
    constexpr std::size_t kHalf = std::size_t{1} << 63;

    EXPECT_EQ(reason(doc.apply_diff({{kList, ListDelta{Erase{kHalf}, Erase{kHalf}}, {}}})),
              "invalid_diff");
    EXPECT_EQ(
        reason(doc.apply_diff(
            {{kList, ListDelta{Retain{kHalf, {}}, Retain{kHalf, {}}, PutItems{{Value(2)}}}, {}}})),
        "invalid_diff");

    EXPECT_EQ(doc.value(list), Value(List{1}));
}

}  // namespace
}  // namespace quire::crdt
