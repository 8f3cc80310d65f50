// Content that undo brings back, and its place among the edits of others.
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "crdt/doc/counter.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "crdt/doc/tree_values.h"
#include "crdt/undo/desk_for_test.h"
#include "crdt/undo/revert.h"
#include "crdt/undo/undo_history.h"

namespace quire::crdt {
namespace {

// Restored text is new to history, and yet undoing the step that typed it removes it again.
TEST(Undo, UndoesEarlierStepsOnRestoredText) {
    Desk desk;
    desk.type(0, "abc");
    desk.commit();
    desk.erase(1, 1);
    desk.commit();
    for (int round = 0; round < 3; ++round) {
        EXPECT_TRUE(desk.undo());
        EXPECT_EQ(desk.read(), "abc");
        EXPECT_TRUE(desk.undo());
        EXPECT_EQ(desk.read(), "");
        EXPECT_TRUE(desk.redo());
        EXPECT_EQ(desk.read(), "abc");
        EXPECT_TRUE(desk.redo());
        EXPECT_EQ(desk.read(), "ac");
    }
    check_invariants(desk.doc);
}

TEST(Undo, OfAMapEntryGoesFromValueToValue) {
    Desk desk;
    for (const int value : {1, 2, 3}) {
        desk.set("k", value);
        desk.commit();
    }
    EXPECT_TRUE(desk.doc.map(desk.map).erase("k"));
    desk.commit();
    for (int round = 0; round < 3; ++round) {
        for (const int value : {3, 2, 1}) {
            EXPECT_TRUE(desk.undo());
            EXPECT_EQ(desk.get("k"), Value(value));
        }
        EXPECT_TRUE(desk.undo());
        EXPECT_EQ(desk.get("k"), Value());
        for (const int value : {1, 2, 3}) {
            EXPECT_TRUE(desk.redo());
            EXPECT_EQ(desk.get("k"), Value(value));
        }
        EXPECT_TRUE(desk.redo());
        EXPECT_EQ(desk.get("k"), Value());
    }
}

// A copy of a map does not repeat the erases, and yet a key that is gone in it is gone by one.
TEST(Undo, FindsAKeyThatWasGoneWhenItsMapCameBack) {
    Desk desk;
    const auto child = [&] { return desk.doc.open(*desk.doc.map(desk.map).child("child")); };
    const auto entry = [&] { return desk.doc.map(child()).get("k"); };
    EXPECT_TRUE(desk.doc.map(desk.map).insert_container("child", ContainerKind::map));
    desk.commit();
    EXPECT_TRUE(desk.doc.map(child()).set("k", 5));
    desk.commit();
    EXPECT_TRUE(desk.doc.map(child()).erase("k"));
    desk.commit();
    for (int returns = 0; returns < 2; ++returns) {
        EXPECT_TRUE(desk.doc.map(desk.map).erase("child"));
        desk.commit();
        EXPECT_TRUE(desk.undo());
        EXPECT_FALSE(entry());
    }
    EXPECT_TRUE(desk.doc.map(child()).set("k", 9));
    desk.commit();

    EXPECT_TRUE(desk.undo());
    EXPECT_FALSE(entry());
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(entry(), Slot(Value(5)));
    EXPECT_TRUE(desk.redo());
    EXPECT_FALSE(entry());
    EXPECT_TRUE(desk.redo());
    EXPECT_EQ(entry(), Slot(Value(9)));
    check_invariants(desk.doc);
}

TEST(Undo, ATreeComesBackWithWhatStoodBelowANodeThatWentBeforeIt) {
    Desk desk;
    const auto tree = [&] { return desk.doc.open(desk.doc.list(desk.list).child(0)); };
    EXPECT_TRUE(desk.doc.list(desk.list).insert_container(0, ContainerKind::tree));
    const OpId above = desk.doc.tree(tree()).create(std::nullopt).value();
    EXPECT_TRUE(desk.doc.tree(tree()).create(above));
    desk.commit();
    EXPECT_TRUE(desk.doc.tree(tree()).erase(above));
    EXPECT_TRUE(desk.doc.list(desk.list).erase(0, 1));
    desk.commit();

    EXPECT_TRUE(desk.undo());

    const std::vector<TreeNode> nodes = desk.doc.tree(tree()).nodes();
    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_EQ(nodes[1].parent, nodes[0].id);
}

TEST(Undo, ATreeComesBackWithoutTheNodeThatItGotJustBeforeItWent) {
    Desk desk;
    const auto tree = [&] { return desk.doc.open(desk.doc.list(desk.list).child(0)); };
    EXPECT_TRUE(desk.doc.list(desk.list).insert_container(0, ContainerKind::tree));
    desk.commit();
    const OpId made = desk.doc.tree(tree()).create(std::nullopt).value();
    EXPECT_TRUE(desk.doc.map(desk.doc.open(*desk.doc.tree(tree()).meta(made))).set("k", 0));
    EXPECT_TRUE(desk.doc.list(desk.list).erase(0, 1));
    desk.commit();

    EXPECT_TRUE(desk.undo());

    EXPECT_TRUE(desk.doc.tree(tree()).nodes().empty());
}

TEST(Undo, ANodeThatCameBackGoesWithTheStepThatMadeIt) {
    Desk desk;
    const Handle tree = desk.doc.open(ContainerId::root("tree", ContainerKind::tree));
    const OpId made = desk.doc.tree(tree).create(std::nullopt).value();
    desk.commit();
    EXPECT_TRUE(desk.doc.tree(tree).erase(made));
    desk.commit();
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.doc.tree(tree).nodes().size(), 1U);

    EXPECT_TRUE(desk.undo());

    EXPECT_TRUE(desk.doc.tree(tree).nodes().empty());
}

TEST(Undo, AnElementThatCameBackAfterAMoveGoesBackToWhereItWas) {
    Desk desk;
    const Handle list = desk.doc.open(ContainerId::root("ml", ContainerKind::movable_list));
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(desk.doc.movable_list(list).insert(0, i));
        desk.commit();
    }
    EXPECT_TRUE(desk.doc.movable_list(list).move(0, 1));
    desk.commit();
    EXPECT_TRUE(desk.doc.movable_list(list).erase(1, 1));
    desk.commit();
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.doc.value(list), Value(List{0, 1}));

    EXPECT_TRUE(desk.undo());

    EXPECT_EQ(desk.doc.value(list), Value(List{1, 0}));
}

// A restored letter lies on the other side of its own tombstone than letters placed after it.
TEST(Undo, WhatComesBackKeepsItsPlaceAmongWhatCameBackBefore) {
    Desk desk;
    const Handle list = desk.doc.open(ContainerId::root("ml", ContainerKind::movable_list));
    EXPECT_TRUE(desk.doc.movable_list(list).insert(0, 0));
    desk.commit();
    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.redo());
    EXPECT_TRUE(desk.doc.movable_list(list).insert(1, 1));
    desk.commit();

    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.redo());

    EXPECT_EQ(desk.doc.value(list), Value(List{0, 1}));
}

// The list itself was away meanwhile, and what lies in it is a copy of what came back before.
TEST(Undo, WhatComesBackIntoAListThatCameBackKeepsItsPlaceThere) {
    Desk desk;
    const auto list = [&] { return desk.doc.open(desk.doc.list(desk.list).child(0)); };
    EXPECT_TRUE(desk.doc.list(desk.list).insert_container(0, ContainerKind::movable_list));
    desk.commit();
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(desk.doc.movable_list(list()).insert(0, i));
        desk.commit();
    }
    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.redo());
    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.doc.list(desk.list).size(), 0U);

    for (int i = 0; i < 3; ++i) EXPECT_TRUE(desk.redo());

    EXPECT_EQ(desk.doc.value(list()), Value(List{1, 0}));
}

// The map has come back, and does not hold the key.
TEST(Undo, AKeyIsSetAgainInAMapThatCameBackWithoutIt) {
    Desk desk;
    const auto map = [&] { return desk.doc.open(desk.doc.list(desk.list).child(0)); };
    EXPECT_TRUE(desk.doc.list(desk.list).insert_container(0, ContainerKind::map));
    desk.commit();
    EXPECT_TRUE(desk.doc.map(map()).set("a", 1));
    desk.commit();
    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.redo());

    EXPECT_TRUE(desk.redo());

    EXPECT_EQ(desk.doc.map(map()).get("a"), Slot(Value(1)));
}

// A step that only went round leaves its last write behind; the step before it is still found.
TEST(Undo, OfAMapEntryPassesOverAWriteThatChangedNothing) {
    Desk desk;
    desk.set("k", 5);
    desk.commit();
    desk.set("k", 7);
    desk.set("k", 5);
    desk.commit();
    EXPECT_TRUE(desk.doc.map(desk.map).erase("k"));
    desk.commit();
    desk.set("k", 1);
    EXPECT_TRUE(desk.doc.map(desk.map).erase("k"));
    desk.commit();

    EXPECT_FALSE(desk.undo());
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.get("k"), Value(5));
    EXPECT_FALSE(desk.undo());
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.get("k"), Value());
}

TEST(Undo, GoesOnInAChildThatWasDeletedAndBroughtBack) {
    Desk desk;
    const auto read = [&] {
        const auto child = desk.doc.map(desk.map).child("c");
        return child ? desk.doc.text(desk.doc.open(*child)).rope().str() : "gone";
    };
    const Handle child =
        desk.doc.open(*desk.doc.map(desk.map).insert_container("c", ContainerKind::text));
    desk.commit();
    EXPECT_TRUE(desk.doc.text(child).insert({0}, "abc"));
    desk.commit();
    EXPECT_TRUE(desk.doc.text(child).insert({3}, "def"));
    desk.commit();
    EXPECT_TRUE(desk.doc.text(child).erase({1}, {1}));
    desk.commit();
    EXPECT_TRUE(desk.doc.map(desk.map).erase("c"));
    desk.commit();
    for (int round = 0; round < 2; ++round) {
        for (const char* text : {"acdef", "abcdef", "abc", "", "gone"}) {
            EXPECT_TRUE(desk.undo());
            EXPECT_EQ(read(), text);
        }
        for (const char* text : {"", "abc", "abcdef", "acdef", "gone"}) {
            EXPECT_TRUE(desk.redo());
            EXPECT_EQ(read(), text);
        }
    }
    check_invariants(desk.doc);
}

TEST(Undo, LeavesWhatOthersWrote) {
    Desk a(1), b(2);
    a.type(0, "abcdef");
    sync(a, b);
    b.erase(1, 2);
    b.type(1, "XY");
    sync(a, b);

    EXPECT_TRUE(a.undo());
    EXPECT_EQ(a.read(), "XY");
    EXPECT_TRUE(a.redo());
    EXPECT_EQ(a.read(), "aXYdef");
    sync(a, b);
}

TEST(Undo, PutsBackWhatWasDeletedAroundWhatOthersInserted) {
    Desk a(1), b(2);
    a.type(0, "abcdef");
    sync(a, b);
    a.erase(1, 3);
    a.commit();
    b.type(2, "XY");
    sync(a, b);

    EXPECT_TRUE(a.undo());
    EXPECT_EQ(a.read(), "abXYcdef");
    EXPECT_TRUE(a.redo());
    EXPECT_EQ(a.read(), "aXYef");
}

TEST(Undo, PutsBackWhatAnotherDeletedToo) {
    Desk a(1), b(2);
    a.type(0, "abcdef");
    sync(a, b);
    a.erase(1, 3);
    b.erase(2, 3);
    sync(a, b);

    EXPECT_TRUE(a.undo());

    EXPECT_EQ(a.read(), "abcdf");
}

TEST(Undo, PutsBackWhatTheSpansThemselvesBroughtBackAndErasedAgain) {
    Desk desk;
    desk.type(0, "abc");
    desk.commit();
    desk.erase(0, 3);
    std::vector<IdSpan> spans = {desk.doc.commit().span};
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(revert(desk.doc, std::vector{spans.back()}));
        spans.push_back(desk.doc.commit().span);
    }
    ASSERT_EQ(desk.read(), "");

    const Undone undone = revert(desk.doc, spans).value();

    EXPECT_EQ(desk.read(), "abc");
    EXPECT_EQ(undone.restored, 3U);
    EXPECT_EQ(undone.skipped, 0U);
}

// A stack of sums as the model: each undo and redo gives its sum to the last digit, though doubles of
// all magnitudes are added.
TEST(Undo, OfACounterGivesItsSumsExactly) {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        std::mt19937 random(seed);
        Desk desk;
        const Handle counter = desk.doc.open(ContainerId::root("n", ContainerKind::counter));
        std::vector<double> sums = {0};
        std::size_t at = 0;
        const auto chance = [&](unsigned of) { return static_cast<unsigned>(random() % of); };
        for (int step = 0; step < 40; ++step) {
            const unsigned act = chance(4);
            if (act < 2) {
                const double digits = static_cast<double>(chance(2'000'000)) - 1'000'000;
                const double delta = digits * std::pow(10, static_cast<int>(chance(30)) - 15);
                if (sums[at] + delta == sums[at]) continue;
                ASSERT_TRUE(desk.doc.counter(counter).add(delta));
                desk.commit();
                sums.resize(at + 1);
                sums.push_back(desk.doc.counter(counter).value());
                ++at;
            } else if (act == 2 && at > 0) {
                EXPECT_TRUE(desk.undo());
                --at;
            } else if (act == 3 && at + 1 < sums.size()) {
                EXPECT_TRUE(desk.redo());
                ++at;
            }
            ASSERT_EQ(desk.doc.counter(counter).value(), sums[at])
                << "seed " << seed << ", step " << step;
        }
        check_invariants(desk.doc);
    }
}

TEST(Undo, OfACounterSubtractsWhereOthersCountedSince) {
    Desk a(1), b(2);
    const Handle counter = a.doc.open(ContainerId::root("n", ContainerKind::counter));
    ASSERT_TRUE(a.doc.counter(counter).add(0.1));
    a.commit();
    ASSERT_TRUE(a.doc.counter(counter).add(0.2));
    sync(a, b);
    ASSERT_TRUE(b.doc.counter(b.doc.open(ContainerId::root("n", ContainerKind::counter))).add(7));
    sync(a, b);

    EXPECT_TRUE(a.undo());

    EXPECT_DOUBLE_EQ(a.doc.counter(counter).value(), 7.1);
    sync(a, b);
    EXPECT_DOUBLE_EQ(
        b.doc.counter(b.doc.open(ContainerId::root("n", ContainerKind::counter))).value(), 7.1);
}

TEST(Undo, LeavesAnEntryThatAnotherSetSince) {
    Desk a(1), b(2);
    a.set("k", "mine");
    sync(a, b);
    b.set("k", "theirs");
    sync(a, b);

    EXPECT_TRUE(a.history.can_undo());
    EXPECT_FALSE(a.undo());
    EXPECT_FALSE(a.history.can_undo()) << "a step without effect is consumed";
    EXPECT_EQ(a.get("k"), Value("theirs"));
}

TEST(Undo, OfAWriteThatOutrankedAnothersShowsTheOthers) {
    Desk a(1), b(2);
    a.set("k", "theirs");
    b.set("k", "mine");
    sync(a, b);
    EXPECT_EQ(b.get("k"), Value("mine"));

    EXPECT_TRUE(b.undo());

    EXPECT_EQ(b.get("k"), Value("theirs"));
}

}  // namespace
}  // namespace quire::crdt
