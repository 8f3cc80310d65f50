#include "crdt/doc/doc.h"

#include <gtest/gtest.h>

#include "base/words_for_test.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/replica_for_test.h"
#include "crdt/doc/text.h"

namespace quire::crdt {
namespace {

// --- sequences: dossier 2.3 and 2.4 ---

TEST(Doc, InsertsIntoOneGapAreOrderedByPeer) {
    Replica a(1), b(2);
    a.type(0, "A");
    b.type(0, "B");

    sync(a, b);

    EXPECT_EQ(a.read(), "AB");
}

TEST(Doc, RunsTypedAtOnePlaceDoNotInterleave) {
    Replica a(1), b(2);
    for (const char* word : {"o", "n", "e"}) {
        a.type(a.read().size(), word);
        a.commit();
        b.type(0, word);  // Backwards.
        b.commit();
    }

    sync(a, b);

    EXPECT_EQ(a.read(), "oneeno");
}

TEST(Doc, DeletingTheSameTextTwiceDeletesItOnce) {
    Replica a(1), b(2);
    a.type(0, "abcdef");
    sync(a, b);
    a.erase(1, 3);
    b.erase(2, 3);

    sync(a, b);

    EXPECT_EQ(a.read(), "af");
}

TEST(Doc, TextTypedIntoADeletedStretchStays) {
    Replica a(1), b(2);
    a.type(0, "abcdef");
    sync(a, b);
    a.erase(0, 6);
    b.type(3, "XY");

    sync(a, b);

    EXPECT_EQ(a.read(), "XY");
}

TEST(Doc, ADeleteActsByItsPositionWhateverItsStartId) {
    Replica a(1), b(2);
    a.type(0, "abcdef");
    a.commit();
    a.erase(1, 2);
    a.commit();
    auto changes = a.doc.changes_since({}).changes();
    std::get<SequenceDelete>(changes.back().ops.back().content).start = {77, 5};

    ASSERT_TRUE(b.doc.import(changes));

    EXPECT_EQ(b.read(), "adef");
    const auto again = b.doc.changes_since({}).changes();
    EXPECT_EQ(std::get<SequenceDelete>(again.back().ops.back().content).start, (OpId{77, 5}));
}

TEST(Doc, ADeleteIsExportedAsRunsOfTheIdsItDeleted) {
    Replica a(1), b(2);
    a.type(0, "abc");
    sync(a, b);
    b.type(1, "X");
    sync(a, b);
    a.erase(0, 4);
    const Commit commit = a.commit();

    const auto changes = a.doc.changes_in(std::vector{commit.span}).changes();

    ASSERT_EQ(changes.size(), 1U);
    ASSERT_EQ(changes[0].ops.size(), 3U);
    EXPECT_EQ(std::get<SequenceDelete>(changes[0].ops[0].content), (SequenceDelete{0, 1, {1, 0}}));
    EXPECT_EQ(std::get<SequenceDelete>(changes[0].ops[1].content), (SequenceDelete{0, 1, {2, 0}}));
    EXPECT_EQ(std::get<SequenceDelete>(changes[0].ops[2].content), (SequenceDelete{0, 2, {1, 1}}));
}

TEST(Doc, BackspacesAreOneRunThatNamesItsSmallestId) {
    Replica a(1);
    a.type(0, "abcd");
    a.erase(3, 1);
    a.erase(2, 1);
    a.erase(1, 1);
    a.commit();

    const auto changes = a.doc.changes_since({}).changes();

    ASSERT_EQ(changes[0].ops.size(), 2U);
    EXPECT_EQ(std::get<SequenceDelete>(changes[0].ops[1].content), (SequenceDelete{3, -3, {1, 1}}));
}

// --- maps, children: dossier 2.10 ---

TEST(Doc, TheLaterWriteOfAKeyWinsAndTiesGoToTheLargerPeer) {
    Replica a(1), b(2);
    a.set("k", "a");
    b.set("k", "b");
    sync(a, b);
    EXPECT_EQ(a.doc.value().get("m")->get("k")->as_string(), "b");

    a.set("k", "later");
    EXPECT_TRUE(b.doc.map(b.map).erase("other"));
    sync(a, b);

    EXPECT_EQ(b.doc.value().get("m")->get("k")->as_string(), "later");
}

TEST(Doc, SettingAnEqualValueIsNoOpAndErasingAMissingKeyIsOne) {
    Replica a(1);
    a.set("k", 1);
    a.set("k", 1);
    EXPECT_EQ(a.commit().span.size(), 1);
    a.set("k", 1.0);
    EXPECT_EQ(a.commit().span.size(), 1);

    EXPECT_TRUE(a.doc.map(a.map).erase("never there"));

    EXPECT_EQ(a.commit().span.size(), 1);
}

TEST(Doc, AChildContainerDiesWithWhatHeldIt) {
    Replica a(1);
    const Handle child = a.doc.open(*a.doc.list(a.list).insert_container(0, ContainerKind::map));
    const Handle inner =
        a.doc.open(*a.doc.map(child).insert_container("text", ContainerKind::text));
    EXPECT_TRUE(a.doc.text(inner).insert({0}, "deep"));
    EXPECT_EQ(a.doc.value().get("l")->as_list()[0].get("text")->as_string(), "deep");
    EXPECT_TRUE(a.doc.is_alive(inner));

    EXPECT_TRUE(a.doc.list(a.list).erase(0, 1));

    EXPECT_FALSE(a.doc.is_alive(inner));
    EXPECT_EQ(reason(a.doc.text(inner).insert({0}, "x")), "container_deleted");
    EXPECT_EQ(a.doc.text(inner).rope().str(), "deep");
}

TEST(Doc, RemoteOpsOnADeletedContainerAreKept) {
    Replica a(1), b(2);
    const ContainerId id = *a.doc.map(a.map).insert_container("doc", ContainerKind::text);
    sync(a, b);
    EXPECT_TRUE(a.doc.map(a.map).erase("doc"));
    EXPECT_TRUE(b.doc.text(b.doc.open(id)).insert({0}, "late"));

    sync(a, b);

    EXPECT_EQ(a.doc.text(a.doc.open(id)).rope().str(), "late");
    EXPECT_FALSE(a.doc.is_alive(a.doc.open(id)));
}

TEST(Doc, LocalEditsCheckNameKindAndPosition) {
    Replica a(1);

    EXPECT_EQ(reason(a.doc.text(a.text).insert({1}, "x")), "out_of_bound");
    EXPECT_EQ(reason(a.doc.text(a.text).erase({0}, {1})), "out_of_bound");
    EXPECT_EQ(reason(a.doc.text(a.list).insert({0}, "x")), "wrong_kind");
    EXPECT_EQ(reason(a.doc.text(a.doc.open(text_root(""))).insert({0}, "x")), "invalid_name");
    EXPECT_EQ(
        reason(a.doc.map(a.doc.open(ContainerId::root("a/b", ContainerKind::map))).set("k", 1)),
        "invalid_name");
    EXPECT_EQ(reason(a.doc.text(a.text).insert({0}, "\xFF")), "invalid_utf8");
    EXPECT_TRUE(a.doc.pending().empty());
}

TEST(Doc, AnIdMayNameARootWithASlashAsInLoro) {
    Replica a(1);
    ASSERT_TRUE(a.doc.text(a.doc.open(text_root("a/b"))).insert({0}, "x").has_value());
    a.doc.commit();
    EXPECT_EQ(a.doc.value(), Value(Map{{"a/b", "x"}}));
}

TEST(Doc, AListFindsItsElementsByTheirIds) {
    Replica a(1);
    for (int i = 0; i < 5; ++i) a.push(i);
    const OpId third = a.doc.list(a.list).id(2);
    EXPECT_TRUE(a.doc.list(a.list).insert(0, "first"));
    EXPECT_EQ(a.doc.list(a.list).index_of(third), 3U);
    EXPECT_EQ(std::get<Value>(a.doc.list(a.list).get(3)), Value(2));

    EXPECT_TRUE(a.doc.list(a.list).erase(3, 1));

    EXPECT_EQ(a.doc.list(a.list).index_of(third), std::nullopt);
}

// --- changes and import: dossier 2.1 and 2.11 ---

TEST(Doc, ChangesArriveInAnyOrderAndAnyCut) {
    Replica a(1), b(2), c(3);
    a.type(0, "one ");
    a.commit("first");
    b.pull(a);
    b.type(4, "two ");
    b.commit("second");
    a.pull(b);
    a.erase(0, 4);
    a.type(4, "three");
    a.commit("third");

    auto changes = a.doc.changes_since({}).changes();
    std::vector<Change> atoms;
    for (const Change& change : changes) {
        for (Counter i = 0; i < atom_count(change); ++i) atoms.push_back(slice(change, i, i + 1));
    }
    for (auto change = atoms.rbegin(); change != atoms.rend(); ++change) {
        ASSERT_TRUE(c.doc.import({*change}));
    }

    EXPECT_EQ(c.read(), "two three");
    EXPECT_EQ(c.doc.version(), a.doc.version());
    check_invariants(c.doc);
}

TEST(Doc, AChangeWhoseDepsAreMissingIsPending) {
    Replica a(1), b(2), c(3);
    a.type(0, "base");
    b.pull(a);
    b.type(4, "!");
    b.commit();
    const auto last = b.doc.changes_since(a.doc.version()).changes();

    const auto parked = c.doc.import(last);
    ASSERT_TRUE(parked);
    EXPECT_TRUE(parked->success.empty());
    EXPECT_EQ(parked->pending, (std::vector<IdSpan>{{2, 0, 1}}));

    const Imported all = c.pull(a);

    EXPECT_EQ(all.success.size(), 2U);
    EXPECT_EQ(c.read(), "base!");
}

TEST(Doc, AnOverlapThatDiffersIsRefusedOnlyWhenThereIsNews) {
    Replica a(1), b(1), c(2);
    a.type(0, "abc");
    a.commit();
    b.type(0, "xyz!");
    b.commit();
    c.pull(a);
    const Value before = c.doc.value();
    auto stale = b.doc.changes_since({}).changes();
    stale[0] = slice(stale[0], 0, 3);

    EXPECT_TRUE(c.doc.import(stale));
    const auto refused = c.doc.import(b.doc.changes_since({}));

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason(), "op_id_reused");
    EXPECT_EQ(c.doc.value(), before);
    check_invariants(c.doc);
}

TEST(Doc, ABadPositionChangesNothing) {
    Replica a(1), b(2);
    a.type(0, "abc");
    sync(a, b);
    a.type(3, "d");
    b.type(0, "z");
    a.commit();
    b.commit();
    auto bad = b.doc.changes_since(a.doc.version()).changes();
    bad.push_back({{2, 1}, {{2, 0}}, 0, 0, "", {{text_root("t"), 1, TextInsert{9, "too far"}}}});
    const Value before = a.doc.value();
    const VersionVector version = a.doc.version();

    const auto refused = a.doc.import(bad);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Errc::corrupt);
    EXPECT_EQ(a.doc.value(), before);
    EXPECT_EQ(a.doc.version(), version);
    check_invariants(a.doc);
    sync(a, b);
    EXPECT_EQ(a.read(), "zabcd");
}

TEST(Doc, MessagesAndTimestampsKeepTheirChanges) {
    Replica a(1);
    a.type(0, "a");
    a.doc.commit({.message = "one", .timestamp = 50});
    a.type(1, "b");
    a.doc.commit({.message = "one", .timestamp = 50});
    a.type(2, "c");
    a.doc.commit({.message = "two", .timestamp = 10});

    const auto changes = a.doc.changes_since({}).changes();

    ASSERT_EQ(changes.size(), 2U);
    EXPECT_EQ(changes[0].message, "one");
    EXPECT_EQ(atom_count(changes[0]), 2);
    EXPECT_EQ(changes[1].message, "two");
    EXPECT_EQ(changes[1].timestamp, 50);  // Never before what it depends on.
    EXPECT_EQ(changes[1].lamport, 2U);
}

TEST(Doc, ADiffCountsCodePoints) {
    Replica a(1), b(2);
    a.type(0, "h\xC3\xA9llo");
    a.pull(b);
    b.pull(a);
    a.type(5, "!");
    a.erase(0, 2);

    const Commit commit = a.doc.commit({.want_diff = true});

    const TextDelta expected{Erase{2}, Retain{3}, PutText{"!"}};
    EXPECT_EQ(std::get<TextDelta>(commit.diff.at(0).delta), expected);
    b.type(5, "?");
    b.commit();
    const auto imported = b.doc.import(a.doc.changes_since({}), {.want_diff = true});
    const TextDelta merged{Erase{2}, Retain{3}, PutText{"!"}};
    EXPECT_EQ(b.read(), "llo!?");
    EXPECT_EQ(std::get<TextDelta>(imported->diff.at(0).delta), merged);
}

TEST(Doc, StyleAnchorsTakeTheirPlaceAndComeBackVerbatim) {
    Replica a(1), b(2);
    a.type(0, "hello world");
    a.commit();
    auto changes = a.doc.changes_since({}).changes();
    const std::vector<Op> mark = {{text_root("t"), 0, StyleStart{0, 5, "bold", true, 0x84}},
                                  {text_root("t"), 1, StyleEnd{}},
                                  {text_root("t"), 2, TextInsert{7, ","}},
                                  {text_root("t"), 3, SequenceDelete{1, 1, {1, 0}}}};
    changes.push_back({{9, 0}, {{1, 10}}, 11, 0, "", mark});

    ASSERT_TRUE(b.doc.import(changes));

    EXPECT_EQ(b.read(), "ello, world");
    EXPECT_EQ(b.doc.changes_since({}).changes().back().ops, mark);
    b.type(4, "!");
    b.erase(0, 6);
    b.commit();
    EXPECT_EQ(b.read(), " world");
    check_invariants(b.doc);
    sync(a, b);
    EXPECT_EQ(a.read(), " world");
}

TEST(Doc, OpsOfEveryKindAreKeptAsTheyCame) {
    Replica a(1);
    const ContainerId tree = ContainerId::root("tree", ContainerKind::tree);
    const ContainerId moves = ContainerId::root("moves", ContainerKind::movable_list);
    const ContainerId counter = ContainerId::root("n", ContainerKind::counter);
    const ContainerId newer = ContainerId::root("new", static_cast<ContainerKind>(9));
    const std::vector<Op> ops = {
        {tree, 0, TreeCreate{{5, 0}, std::nullopt, {0x80}}},
        {moves, 1, ListInsert{0, {Slot(Value(1)), Slot(ContainerKind::text)}}},
        {moves, 3, ListMove{0, 1, {5, 1}}},
        {counter, 4, CounterAdd{Value(2.5)}},
        {newer, 5, UnknownOp{3, 80, {1, 2, 3}}},
        {ContainerId::normal({5, 2}, ContainerKind::text), 6, TextInsert{0, "child"}}};
    ASSERT_TRUE(a.doc.import({{{5, 0}, {}, 0, 0, "", ops}}));

    EXPECT_EQ(a.doc.changes_since({}).changes().at(0).ops, ops);
    EXPECT_EQ(*a.doc.value().get("n"), Value(2.5));
    EXPECT_EQ(*a.doc.value().get("moves"), Value(List{"child", 1}));
    VersionVector from;
    from.set(5, 2);
    EXPECT_EQ(a.doc.changes_since(from).changes().at(0).ops.at(0).content,
              OpContent(ListInsert{1, {ContainerKind::text}}));
    check_invariants(a.doc);
}

// --- earlier versions ---

TEST(Doc, TextAtReadsAnyEarlierVersion) {
    Replica a(1), b(2);
    a.type(0, "one");
    a.commit();
    const Frontiers first = a.doc.frontiers();
    b.pull(a);
    a.type(3, " two");
    b.erase(0, 1);
    a.commit();
    const Frontiers only_a = a.doc.frontiers();
    sync(a, b);

    EXPECT_EQ(*a.doc.text(a.text).at(first), "one");
    EXPECT_EQ(*a.doc.text(a.text).at(only_a), "one two");
    EXPECT_EQ(*a.doc.text(a.text).at(a.doc.frontiers()), "ne two");
    EXPECT_EQ(*a.doc.text(a.text).at({}), "");
    EXPECT_EQ(a.doc.text(a.text).at({{99, 0}}).error().reason(), "unknown_version");
    a.type(0, "more ");
    sync(a, b);
}

TEST(Doc, APeerGoesOnWhereItStopped) {
    Replica a(1);
    a.type(0, "as one ");
    a.commit();
    a.doc.set_peer(2);
    a.type(7, "as two ");
    a.commit();

    a.doc.set_peer(1);
    a.type(14, "as one");

    EXPECT_EQ(a.commit().span, (IdSpan{1, 7, 13}));
    EXPECT_EQ(a.read(), "as one as two as one");
    check_invariants(a.doc);
}

}  // namespace
}  // namespace quire::crdt
