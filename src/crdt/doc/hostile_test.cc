// Histories that somebody can send on purpose: small ones that ask for much work, and ones that no
// replica would write. If a test is about work, doing it in the obvious way takes many times as
// long, or the whole stack.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/words_for_test.h"
#include "crdt/doc/apply.h"
#include "crdt/doc/body.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/events.h"
#include "crdt/doc/history.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/list.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "crdt/doc/tree_values.h"
#include "tests/peak_memory/peak_memory.h"

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

TEST(Hostile, AContainerThatHoldsItselfIsNotAlive) {
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
    EXPECT_EQ(doc.history().diff({}, doc.frontiers())->size(), 1U);
    ASSERT_TRUE(doc.checkout({{1, 2}}));
    EXPECT_FALSE(doc.is_alive(doc.open(self)));
    EXPECT_FALSE(doc.is_alive(doc.open(second)));
    EXPECT_EQ(doc.value(), Value(Map()));
}

// Ops place nodes that nobody made, one named after an op of the map that would be its own.
TEST(Hostile, TheMapOfANodeThatNobodyMadeIsNotAlive) {
    const ContainerId tree = ContainerId::root("tree", ContainerKind::tree);
    const ContainerId self = ContainerId::normal({1, 1}, ContainerKind::map);
    const ContainerId nobodys = ContainerId::normal({7, 7}, ContainerKind::map);
    const Bytes position{0x80};
    Doc doc(9);
    std::vector<ContainerId> told;
    const auto subscription = subscribe_root(doc, [&](const Event& event) {
        for (const ContainerDiff& part : event.diffs) told.push_back(part.container);
    });
    const tests::PeakMemory peak;

    ASSERT_TRUE(doc.import(
        {change({1, 0}, {},
                {{tree, 0, TreeCreate{{1, 0}, std::nullopt, position}},
                 {self, 1, MapSet{"k", Value(1)}},
                 {tree, 2, TreeMove{{1, 1}, {{1, 0}}, position}},
                 {nobodys, 3, MapSet{"k", Value(2)}},
                 {tree, 4, TreeMove{{7, 7}, std::nullopt, position}},
                 {ContainerId::normal({1, 0}, ContainerKind::map), 5, MapSet{"k", Value(3)}}})}));

    EXPECT_EQ(told,
              (std::vector<ContainerId>{tree, ContainerId::normal({1, 0}, ContainerKind::map)}));
    EXPECT_EQ(doc.tree(doc.open(tree)).nodes().size(), 3U);
    EXPECT_LT(peak.bytes(), std::size_t{1} << 20);
    ASSERT_TRUE(doc.checkout({}));
    doc.checkout_to_latest();
    EXPECT_EQ(told.size(), 2U + 1U + 2U);  // Two come, one goes, two come again.
}

// A fuzzer found it: what came first was shown last.
TEST(Hostile, OfRootsWithOneNameTheFirstKindIsShownWhateverCameFirst) {
    const ContainerId list = ContainerId::root("r", ContainerKind::list);
    const ContainerId counter = ContainerId::root("r", ContainerKind::counter);
    const Change one = change({1, 0}, {}, {{list, 0, ListInsert{0, {Value(7)}}}});
    const Change other = change({2, 0}, {}, {{counter, 0, CounterAdd{Value(2)}}});
    Doc doc(8);
    Doc again(9);
    ASSERT_TRUE(doc.import({one, other}));
    ASSERT_TRUE(again.import({other}));
    ASSERT_TRUE(again.import({one}));

    EXPECT_EQ(doc.value(), Value(Map{{"r", List{Value(7)}}}));
    EXPECT_EQ(again.value(), doc.value());
}

// A fuzzer found it: NaN is not equal to itself, so the same change seemed to have other content.
TEST(Hostile, AStyleThatIsNotANumberCanComeAgain) {
    const Value nan(std::numeric_limits<double>::quiet_NaN());
    const Change styled = change({1, 0}, {},
                                 {{kText, 0, TextInsert{0, "ab"}},
                                  {kText, 2, StyleStart{0, 1, "bold", nan, 0x84}},
                                  {kText, 3, StyleEnd{}}});
    Doc doc(9);
    ASSERT_TRUE(doc.import({styled}));
    EXPECT_TRUE(doc.import({styled}));
}

// No peer can make what is named after the reserved peer, and no snapshot can hold it.
TEST(Hostile, ANodeOfTheReservedPeerIsRefused) {
    const ContainerId tree = ContainerId::root("tree", ContainerKind::tree);
    const OpId nobodys{kNoPeer, 0};
    for (const OpContent& content :
         {OpContent(TreeMove{nobodys, std::nullopt, {0x80}}), OpContent(TreeErase{nobodys}),
          OpContent(TreeMove{{1, 7}, nobodys, {0x80}}),
          OpContent(TreeCreate{{1, 0}, nobodys, {0x80}})}) {
        Doc doc(9);
        const auto imported = doc.import({change({1, 0}, {}, {{tree, 0, content}})});
        ASSERT_FALSE(imported);
        EXPECT_NE(imported.error().message().find("impossible node"), std::string::npos);
    }
}

// A map that is named after a node holds trees in which that node stands: were it shown in each of
// them, there would be as many of it as ways down.
TEST(Hostile, AMapNamedInManyTreesIsShownInTheTreeThatMadeIt) {
    const ContainerId tree = ContainerId::root("tree", ContainerKind::tree);
    const OpId node{1, 0};
    const ContainerId meta = ContainerId::normal(node, ContainerKind::map);
    const Bytes position{0x80};
    std::vector<Op> ops{{tree, 0, TreeCreate{node, std::nullopt, position}}};
    constexpr Counter kTrees = 4;
    for (Counter at = 1; at <= kTrees; ++at)
        ops.push_back({meta, at, MapSet{std::to_string(at), ContainerKind::tree}});
    for (Counter at = 1; at <= kTrees; ++at) {
        ops.push_back({ContainerId::normal({1, at}, ContainerKind::tree), kTrees + at,
                       TreeMove{node, std::nullopt, position}});
    }
    Doc doc(9);
    std::size_t told = 0;
    const auto subscription =
        subscribe_root(doc, [&](const Event& event) { told = event.diffs.size(); });
    const tests::PeakMemory peak;

    ASSERT_TRUE(doc.import({change({1, 0}, {}, ops)}));

    EXPECT_EQ(told, std::size_t{2 + kTrees});
    const Value shown = doc.value().get("tree")->as_list()[0];
    ASSERT_EQ(shown.get("meta")->as_map().size(), std::size_t{kTrees});
    const Value inner = shown.get("meta")->get("1")->as_list()[0];
    EXPECT_EQ(*inner.get("id"), Value("0@1"));
    EXPECT_EQ(*inner.get("meta"), Value(Map()));
    EXPECT_LT(peak.bytes(), std::size_t{1} << 20);
}

TEST(Hostile, DiffsGoAsDeepAsValues) {
    constexpr Counter kDeep = 40'000;
    Doc doc(9);
    const auto subscription = subscribe_root(doc, [](const Event&) {});

    const auto imported = doc.import({nested_lists(kDeep)}, {.want_diff = true});

    ASSERT_TRUE(imported);
    EXPECT_EQ(imported->diff.size(), std::size_t{kMaxValueDepth} + 1);
    EXPECT_EQ(doc.history().diff({}, doc.frontiers())->size(), imported->diff.size());
    const Handle deepest = doc.open(ContainerId::normal({1, kDeep - 1}, ContainerKind::list));
    EXPECT_TRUE(doc.is_alive(deepest));
    doc.detach();
    EXPECT_TRUE(doc.is_alive(deepest));
    ASSERT_TRUE(doc.checkout({{1, kDeep - 2}}));
    EXPECT_FALSE(doc.is_alive(deepest));
}

// --- versions ---

TEST(Hostile, AChangeMayDependOnEveryOtherChange) {
    constexpr Counter kMany = 200'000;
    Frontiers deps;
    for (Counter counter = 0; counter < kMany; ++counter) deps.push_back({1, counter});
    std::vector<Change> changes;
    // The changes that are depended on come later, bit by bit.
    changes.push_back(typing({2, 0}, deps, 0, "!"));
    for (Counter counter = 0; counter < kMany; ++counter)
        changes.push_back(typing({1, counter}, {}, static_cast<std::uint32_t>(counter), "x"));
    Doc doc(9);

    ASSERT_TRUE(doc.import(changes));

    EXPECT_EQ(doc.frontiers(), (Frontiers{{2, 0}}));
    EXPECT_EQ(doc.history().minimal(deps).value(), (Frontiers{{1, kMany - 1}}));
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
TEST(Hostile, AHistoryBeyondTheNumbersIsRefused) {
    constexpr Counter kSize = 1 << 24;
    Doc doc(9);
    ASSERT_TRUE(doc.import({typing({1, 0}, {}, 0, std::string(kSize, 'x'))}));
    std::vector<Change> deletes;
    for (PeerId peer = 2; peer < 300; ++peer) {
        deletes.push_back(
            change({peer, 0}, {{1, kSize - 1}}, {{kText, 0, SequenceDelete{0, kSize, {1, 0}}}}));
    }

    EXPECT_EQ(reason(doc.import(deletes)), "too_large");

    EXPECT_EQ(doc.text(doc.open(kText)).rope().bytes().n, std::size_t{kSize});
    EXPECT_EQ(doc.frontiers(), (Frontiers{{1, kSize - 1}}));
}

// --- one id for two changes ---

// One op comes twice, with other parents: whichever came first would make another history.
TEST(Hostile, AKnownOpWithOtherParentsIsRefused) {
    const Change first = typing({1, 0}, {}, 0, "ab");
    const Change after_it = change({2, 0}, {{1, 1}}, {{kList, 0, ListInsert{0, {Value(1)}}}});
    const Change beside_it = change({2, 0}, {}, {{kList, 0, ListInsert{0, {Value(1)}}}});
    const Change later = change({2, 1}, {}, {{kList, 1, ListInsert{0, {Value(2)}}}});
    const auto verdict = [](const std::vector<Change>& known, const std::vector<Change>& changes) {
        Doc doc(9);
        EXPECT_TRUE(doc.import(known));
        const Frontiers before = doc.frontiers();
        std::string why = reason(doc.import(changes));
        EXPECT_EQ(reason(doc.import(changes, {.says_less = true})), why);
        if (!why.empty()) {
            EXPECT_EQ(doc.frontiers(), before);
        }
        return why;
    };

    EXPECT_EQ(verdict({}, {first, after_it, beside_it}), "op_id_reused");
    EXPECT_EQ(verdict({}, {beside_it, first, after_it}), "op_id_reused");
    // One of them waits when the other comes.
    EXPECT_EQ(verdict({}, {after_it, beside_it}), "op_id_reused");
    EXPECT_EQ(verdict({first, after_it}, {beside_it, later}), "op_id_reused");
    EXPECT_EQ(verdict({first, beside_it}, {after_it, later}), "op_id_reused");
    EXPECT_EQ(verdict({beside_it}, {after_it, later}), "op_id_reused");
    EXPECT_EQ(verdict({first, after_it}, {after_it, later}), "");
    EXPECT_EQ(verdict({first, beside_it}, {beside_it, later}), "");
}

// JSON does not tell bytes and whole floats from other values, but says the same of them twice.
TEST(Hostile, ChangesThatSayLessAreComparedByWhatTheySay) {
    const auto pushing = [](Counter at, Value value) {
        return change({1, at}, {}, {{kList, at, ListInsert{0, {std::move(value)}}}});
    };
    Doc doc(9);
    ASSERT_TRUE(doc.import({pushing(0, Bytes{1})}));

    EXPECT_EQ(reason(doc.import({pushing(0, List{1}), pushing(1, 2)}, {.says_less = true})), "");
    EXPECT_EQ(reason(doc.import({pushing(0, List{1}), pushing(1, 3), pushing(2, 4)})),
              "op_id_reused");
    EXPECT_EQ(
        reason(doc.import({pushing(2, 4), pushing(2, 5), pushing(3, 6)}, {.says_less = true})),
        "op_id_reused");
    EXPECT_EQ(doc.version().end_of(1), 2);
}

// One history is cut elsewhere, with deps that say more than they need to.
TEST(Hostile, DepsMayBeWrittenInManyWays) {
    const Change first = typing({1, 0}, {}, 0, "ab");
    const Change other = typing({2, 0}, {{1, 1}}, 2, "cd");
    const Change both =
        change({1, 2}, {{2, 1}}, {{kText, 2, TextInsert{4, "ef"}}, {kText, 4, TextInsert{6, "g"}}});
    const Change end = typing({1, 5}, {{1, 4}}, 7, "h");
    Doc doc(9);
    ASSERT_TRUE(doc.import({first, other, both}));
    Change long_winded = both;
    long_winded.deps = {{1, 0}, {1, 1}, {2, 0}, {2, 1}};

    EXPECT_EQ(reason(doc.import(
                  {slice(first, 1, 2), slice(other, 1, 2), long_winded, slice(both, 1, 3), end})),
              "");

    EXPECT_EQ(doc.text(doc.open(kText)).rope().str(), "abcdefgh");
    // Nor is it one run if it was none.
    Change joined = first;
    joined.ops.insert(joined.ops.end(), both.ops.begin(), both.ops.end());
    EXPECT_EQ(reason(doc.import({joined, typing({1, 6}, {{1, 5}}, 8, "i")})), "op_id_reused");
}

// --- what waits ---

TEST(Hostile, ManyChangesMayWaitForOne) {
    constexpr PeerId kMany = 100'000;
    std::vector<Change> waiting;
    for (PeerId peer = 2; peer < kMany; ++peer)
        waiting.push_back(typing({peer, 0}, {{1, 0}}, 0, "x"));
    Doc doc(9'999'999);

    EXPECT_EQ(doc.import(waiting)->pending.size(), kMany - 2);
    EXPECT_EQ(doc.history().waiting().size(), kMany - 2);
    // Another import pays for none of them.
    for (Counter counter = 0; counter < 2'000; ++counter)
        ASSERT_TRUE(doc.import({typing({1'000'000, counter}, {}, 0, "x")}));
}

TEST(Hostile, AnUnsoundWaitingChangeIsNotTriedForEver) {
    constexpr PeerId kMany = 20'000;
    std::vector<Change> waiting;
    for (PeerId peer = 2; peer < kMany; ++peer)
        waiting.push_back(typing({peer, 0}, {{1, 0}}, peer % 2 == 0 ? 0 : 999, "x"));
    Doc doc(9'999'999);
    ASSERT_TRUE(doc.import(waiting));

    const auto imported = doc.import({typing({1, 0}, {}, 0, "ab")});

    ASSERT_TRUE(imported);
    EXPECT_TRUE(doc.version().includes(OpId{1, 1}));
    EXPECT_TRUE(doc.history().waiting().empty());
    // A replica that has the sound change can send it again.
    const Change sound = typing({2, 0}, {{1, 0}}, 0, "x");
    ASSERT_TRUE(doc.import({sound}));
    EXPECT_TRUE(doc.version().includes(OpId{2, 0}));
    check_invariants(doc);
}

TEST(Hostile, WaitingChangesSurviveARefusedImport) {
    Doc doc(9);
    ASSERT_TRUE(doc.import({typing({2, 0}, {{1, 1}}, 0, "x")}));
    const std::vector<IdSpan> waiting = doc.history().waiting();

    EXPECT_EQ(doc.import({typing({1, 0}, {}, 0, "ab"), typing({3, 0}, {}, 7, "x")}).error().code(),
              Errc::corrupt);

    EXPECT_EQ(doc.history().waiting(), waiting);
    ASSERT_TRUE(doc.import({typing({1, 0}, {}, 0, "ab")}));
    EXPECT_EQ(doc.text(doc.open(kText)).rope().str(), "xab");
}

// --- times ---

TEST(Hostile, ATimestampMayBeBeforeAllOthers) {
    Doc doc(1);
    doc.settings().merge_interval = 1000;
    Change early = typing({1, 0}, {}, 0, "a");
    early.timestamp = std::numeric_limits<std::int64_t>::min();
    ASSERT_TRUE(doc.import({early}));
    ASSERT_TRUE(doc.text(doc.open(kText)).insert({1}, "b"));

    doc.commit({.timestamp = 5});

    const auto changes = doc.changes_since({}).changes();
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_EQ(changes[1].timestamp, 5);
}

// --- sizes ---

// The document with the container as if it had room for one entity more and no second. Nothing can
// be made so large in a test; an edit that is refused reads the size alone.
Doc& filled(Doc& doc, Handle handle) {
    body_of(doc).container(handle).sequence()->size = kMaxSize - 1;
    return doc;
}

TEST(Hostile, AnEditBeyondTheLimitSaysThatTheContainerIsTooLarge) {
    Doc doc(1);
    const Handle text = doc.open(kText);
    ASSERT_TRUE(doc.text(text).insert({0}, "abc"));
    filled(doc, text);

    EXPECT_EQ(reason(doc.text(text).insert({0}, "xy")), "too_large");
    EXPECT_EQ(reason(doc.text(text).mark({0}, {1}, "bold", true)), "too_large");
    EXPECT_EQ(reason(doc.text(text).apply({PutText{"xy", {}}})), "too_large");
}

// --- diffs ---

TEST(Hostile, ADiffThatGoesBeyondAllBoundsIsRefused) {
    Doc doc(1);
    const Handle list = doc.open(kList);
    ASSERT_TRUE(doc.list(list).insert(0, 1));
    constexpr std::size_t kHalf = std::size_t{1} << 63;

    EXPECT_EQ(reason(apply_diff(doc, {{kList, ListDelta{Erase{kHalf}, Erase{kHalf}}, {}}})),
              "invalid_diff");
    EXPECT_EQ(
        reason(apply_diff(
            doc,
            {{kList, ListDelta{Retain{kHalf, {}}, Retain{kHalf, {}}, PutItems{{Value(2)}}}, {}}})),
        "invalid_diff");

    EXPECT_EQ(doc.value(list), Value(List{1}));
}

TEST(Hostile, ADiffThatMakesAListTooLargeIsRefused) {
    for (const ContainerKind kind : {ContainerKind::list, ContainerKind::movable_list}) {
        const ContainerId id = ContainerId::root("l", kind);
        Doc doc(1);
        filled(doc, doc.open(id));
        EXPECT_EQ(reason(apply_diff(doc, {{id, ListDelta{PutItems{{Value(1), Value(2)}}}, {}}})),
                  "invalid_diff");
        EXPECT_TRUE(doc.pending().empty());
    }
}

TEST(Hostile, ADiffThatNamesAContainerTwiceIsRefused) {
    Doc doc(1);
    const Handle list = doc.open(kList);
    ASSERT_TRUE(doc.list(list).insert(0, 1));
    const ContainerDiff emptied{kList, ListDelta{Erase{1}}, {}};

    EXPECT_EQ(reason(apply_diff(doc, {emptied, emptied})), "invalid_diff");
    EXPECT_EQ(doc.value(list), Value(List{1}));
}

// The first mention in a movable list moves the child, the second makes another one, which is empty.
TEST(Hostile, ADiffThatMovesAChildAndMakesItAgainAppliesToTheNewOne) {
    const ContainerId id = ContainerId::root("l", ContainerKind::movable_list);
    Doc doc(1);
    const Handle list = doc.open(id);
    const ContainerId child = *doc.movable_list(list).insert_container(0, ContainerKind::text);
    ASSERT_TRUE(doc.text(doc.open(child)).insert({0}, "abc"));
    const ListDelta twice{Erase{1}, PutItems{{child, child}}};

    EXPECT_EQ(reason(apply_diff(doc, {{id, twice, {}}, {child, TextDelta{Erase{3}}, {}}})),
              "invalid_diff");
    ASSERT_TRUE(apply_diff(doc, {{id, twice, {}}, {child, TextDelta{PutText{"x", {}}}, {}}}));
    EXPECT_EQ(doc.value(list), Value(List{"abc", "x"}));
}

TEST(Hostile, ADiffThatErasesAChildWhichItHasMadeElsewhereAppliesToTheNewOne) {
    const ContainerId id = ContainerId::root("l", ContainerKind::movable_list);
    Doc doc(1);
    const Handle list = doc.open(id);
    const ContainerId child = *doc.movable_list(list).insert_container(0, ContainerKind::text);
    ASSERT_TRUE(doc.text(doc.open(child)).insert({0}, "abc"));
    const ContainerDiff made{kList, ListDelta{PutItems{{child}}}, {}};
    const ContainerDiff erased{id, ListDelta{Erase{1}}, {}};

    EXPECT_EQ(reason(apply_diff(doc, {made, erased, {child, TextDelta{Erase{3}}, {}}})),
              "invalid_diff");
    ASSERT_TRUE(apply_diff(doc, {made, erased, {child, TextDelta{PutText{"x", {}}}, {}}}));
    EXPECT_EQ(doc.value(doc.open(kList)), Value(List{"x"}));
}

}  // namespace
}  // namespace quire::crdt
