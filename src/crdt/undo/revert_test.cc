#include "crdt/undo/revert.h"

#include <gtest/gtest.h>

#include "base/words_for_test.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/replica_for_test.h"
#include "crdt/doc/text.h"

namespace quire::crdt {
namespace {

TEST(Revert, TakesOutWhatWasTypedAndPutsBackWhatWasDeleted) {
    Replica a(1);
    a.type(0, "keep this text");
    a.commit();
    a.erase(5, 5);
    a.type(5, "that ");
    const Commit edit = a.commit();

    const auto undone = revert(a.doc, std::vector{edit.span});

    ASSERT_TRUE(undone);
    EXPECT_EQ(a.read(), "keep this text");
    EXPECT_EQ(undone->removed, 5U);
    EXPECT_EQ(undone->restored, 5U);
    const Commit undo = a.commit();
    ASSERT_TRUE(revert(a.doc, std::vector{undo.span}));
    EXPECT_EQ(a.read(), "keep that text");
    a.commit();
    check_invariants(a.doc);
}

TEST(Revert, LeavesAloneWhatOthersChanged) {
    Replica a(1), b(2);
    a.type(0, "base ");
    sync(a, b);
    a.type(5, "mine");
    a.set("k", "mine");
    const Commit edit = a.commit();
    b.pull(a);
    b.erase(5, 2);
    b.type(0, ">");
    b.set("k", "theirs");
    sync(a, b);

    const auto undone = revert(a.doc, std::vector{edit.span});

    ASSERT_TRUE(undone);
    EXPECT_EQ(a.read(), ">base ");
    EXPECT_EQ(undone->removed, 2U);
    EXPECT_EQ(undone->skipped, 3U);  // Two letters and the key.
    EXPECT_EQ(a.doc.value().get("m")->get("k")->as_string(), "theirs");
    sync(a, b);
}

TEST(Revert, BringsBackAListElementWithItsChild) {
    Replica a(1);
    a.push("x");
    const Handle child = a.doc.open(*a.doc.list(a.list).insert_container(1, ContainerKind::map));
    EXPECT_TRUE(a.doc.map(child).set("name", "n"));
    a.set("k", 1);
    a.commit();
    const Value before = a.doc.value();
    EXPECT_TRUE(a.doc.list(a.list).erase(0, 2));
    a.set("k", 2);
    a.set("new", 3);
    const Commit edit = a.commit();

    ASSERT_TRUE(revert(a.doc, std::vector{edit.span}));

    EXPECT_EQ(a.doc.value(), before);
}

TEST(Revert, CanBeKeptToSomeContainers) {
    Replica a(1);
    a.type(0, "text");
    a.set("k", 1);
    const Commit edit = a.commit();

    ASSERT_TRUE(revert(a.doc, std::vector{edit.span}, std::vector{a.map}));

    EXPECT_EQ(a.read(), "text");
    EXPECT_EQ(a.doc.map(a.map).get("k"), std::nullopt);
}

TEST(Revert, IsRefusedByADetachedDocument) {
    Replica a(1);
    a.type(0, "one");
    a.commit();
    const Frontiers early = a.doc.frontiers();
    a.type(3, " two");
    a.commit();
    ASSERT_TRUE(a.doc.checkout(early));

    EXPECT_EQ(reason(revert(a.doc, std::vector{IdSpan{1, 0, 1}})), "detached");
}

// A tree comes back with a node in it that is named after a letter: nothing stands for the letter.
TEST(Revert, ANodeThatIsNamedAfterALetterComesBackForNothingElse) {
    const ContainerId text = ContainerId::root("t", ContainerKind::text);
    const ContainerId list = ContainerId::root("l", ContainerKind::list);
    const ContainerId tree = ContainerId::normal({1, 2}, ContainerKind::tree);
    Doc doc(9);
    ASSERT_TRUE(doc.import({{{1, 0},
                             {},
                             0,
                             0,
                             "",
                             {{text, 0, TextInsert{0, "ab"}},
                              {list, 2, ListInsert{0, {ContainerKind::tree}}},
                              {tree, 3, TreeMove{{1, 0}, std::nullopt, Bytes{0x80}}},
                              {tree, 4, TreeMove{{1, 3}, std::nullopt, Bytes{0x80}}}}}}));
    const auto take_back = [&] {
        const IdSpan span = doc.commit().span;
        ASSERT_TRUE(revert(doc, std::vector{span}));
        const IdSpan back = doc.commit().span;
        Doc again(9);
        ASSERT_TRUE(again.import(doc.changes_since({})));
        EXPECT_TRUE(recall(again, stand_ins(doc, back)));
    };
    ASSERT_TRUE(doc.list(doc.open(list)).erase(0, 1));
    take_back();

    ASSERT_TRUE(doc.text(doc.open(text)).erase({0}, {1}));
    take_back();

    EXPECT_EQ(doc.text(doc.open(text)).rope().str(), "ab");
    EXPECT_EQ(doc.value().get("l")->as_list()[0].as_list().size(), 2U);
}

}  // namespace
}  // namespace quire::crdt
