#include "crdt/undo/undo_history.h"

#include <gtest/gtest.h>

#include "crdt/doc/cursor.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "crdt/undo/desk_for_test.h"
#include "crdt/undo/revert.h"

namespace quire::crdt {
namespace {

TEST(Undo, UndoesAndRedoesStepByStep) {
    Desk desk;
    desk.type(0, "one");
    desk.commit();
    desk.type(3, " two");
    desk.set("k", 1);
    desk.commit();

    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.read(), "one");
    EXPECT_EQ(desk.get("k"), Value());
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.read(), "");
    EXPECT_FALSE(desk.undo());
    EXPECT_TRUE(desk.redo());
    EXPECT_TRUE(desk.redo());
    EXPECT_FALSE(desk.redo());
    EXPECT_EQ(desk.read(), "one two");
    EXPECT_EQ(desk.get("k"), Value(1));
    EXPECT_EQ(desk.history.last_commit().origin, "undo");
    check_invariants(desk.doc);
}

TEST(Undo, ConsumesOneStepACall) {
    Desk desk;
    desk.type(0, "kept");
    desk.commit();
    desk.type(0, "in and out");
    desk.erase(0, 10);
    desk.commit();

    EXPECT_FALSE(desk.undo());
    EXPECT_EQ(desk.read(), "kept");
    EXPECT_FALSE(desk.history.can_redo());
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.read(), "");
}

TEST(Undo, EndsThePendingTransactionAndTakesItBack) {
    Desk desk;
    desk.type(0, "pending");

    EXPECT_TRUE(desk.undo());

    EXPECT_EQ(desk.read(), "");
    EXPECT_TRUE(desk.redo());
    EXPECT_EQ(desk.read(), "pending");
}

TEST(Undo, ANewEditEndsTheChanceToRedo) {
    Desk desk;
    desk.type(0, "a");
    desk.commit();
    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.history.can_redo());

    desk.type(0, "b");
    desk.commit();

    EXPECT_FALSE(desk.history.can_redo());
    EXPECT_FALSE(desk.redo());
}

TEST(Undo, CommitsWithinTheIntervalAreOneStep) {
    Desk desk(1, {.merge_interval_ms = 1000});
    std::string letter = "a";
    for (const std::int64_t at : {0, 500, 999, 1000, 1500}) {
        desk.now = at;
        desk.type(desk.read().size(), letter);
        desk.commit();
        ++letter[0];
    }

    EXPECT_EQ(desk.history.undo_count(), 2U);
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.read(), "abc");
}

TEST(Undo, ACommitDoesNotJoinAcrossAnothersEdit) {
    Desk a(1, {.merge_interval_ms = 1000}), b(2);
    a.type(0, "a");
    a.commit();
    b.type(0, "b");
    a.pull(b);
    a.type(0, "c");
    a.commit();

    EXPECT_EQ(a.history.undo_count(), 2U);
}

TEST(Undo, AGroupIsOneStep) {
    Desk desk;
    desk.type(0, "a");
    desk.commit();
    ASSERT_TRUE(desk.history.group_start());
    EXPECT_EQ(desk.history.group_start().error().reason(), "group_already_started");
    desk.type(1, "b");
    desk.commit();
    desk.type(2, "c");
    desk.commit();
    desk.history.group_end();
    desk.type(3, "d");
    desk.commit();

    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.read(), "abc");
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.read(), "a");
}

TEST(Undo, AGroupEndsWhereAnotherEditsWhatItTouched) {
    Desk a(1), b(2);
    ASSERT_TRUE(a.history.group_start());
    a.type(0, "a");
    a.commit();
    b.set("elsewhere", 1);
    a.pull(b);
    a.type(1, "b");
    a.commit();
    EXPECT_EQ(a.history.undo_count(), 1U);
    b.type(0, "x");
    a.pull(b);
    a.type(0, "c");
    a.commit();
    a.type(0, "d");
    a.commit();

    EXPECT_EQ(a.history.undo_count(), 3U);
}

TEST(Undo, ACheckpointEndsAStep) {
    Desk desk(1, {.merge_interval_ms = 1000});
    desk.type(0, "a");
    desk.history.record_new_checkpoint(desk.now);
    desk.type(1, "b");
    desk.commit();

    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.read(), "a");
}

TEST(Undo, ForgetsTheOldestSteps) {
    Desk desk(1, {.merge_interval_ms = 0, .max_steps = 2});
    for (const char* letter : {"a", "b", "c", "d"}) {
        desk.type(desk.read().size(), letter);
        desk.commit();
    }

    while (desk.history.can_undo()) EXPECT_TRUE(desk.undo());

    EXPECT_EQ(desk.read(), "ab");
}

TEST(Undo, PassesOverExcludedOrigins) {
    Desk desk(1, {.merge_interval_ms = 1000, .exclude_origins = {"sys"}});
    desk.type(0, "abc");
    desk.commit();
    desk.type(1, "X");
    desk.commit("sys:load");
    desk.type(4, "d");
    desk.commit();
    EXPECT_EQ(desk.history.undo_count(), 2U);

    EXPECT_TRUE(desk.undo());
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.read(), "X");
    EXPECT_TRUE(desk.redo());
    EXPECT_EQ(desk.read(), "aXbc");
}

TEST(Undo, StartsAnewForAnotherPeer) {
    Desk desk;
    desk.type(0, "a");
    desk.commit();
    desk.doc.set_peer(7);

    EXPECT_FALSE(desk.history.can_undo());
    EXPECT_FALSE(desk.undo());
    desk.type(0, "b");
    desk.commit();
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.read(), "a");
}

TEST(Undo, TheFirstCommitOfAnotherPeerIsAStep) {
    Desk desk;
    desk.type(0, "a");
    desk.commit();
    desk.doc.set_peer(7);
    desk.type(0, "b");
    desk.commit();

    EXPECT_TRUE(desk.undo());

    EXPECT_EQ(desk.read(), "a");
    EXPECT_FALSE(desk.undo());
}

TEST(Undo, WaitsWhileTheDocumentShowsThePast) {
    Desk desk;
    desk.type(0, "a");
    desk.commit();
    const Frontiers then = desk.doc.frontiers();
    desk.type(1, "b");
    desk.commit();
    ASSERT_TRUE(desk.doc.checkout(then));

    EXPECT_FALSE(desk.undo());
    desk.doc.checkout_to_latest();
    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.read(), "a");
}

TEST(Undo, KeepsSelectionsWithItsSteps) {
    Desk desk;
    std::size_t caret = 0;
    std::vector<std::size_t> shown;
    desk.history.on_push([&](UndoDirection, IdSpan, const Commit* commit) {
        return UndoNote{commit != nullptr ? "typed" : "back",
                        {cursor_at(desk.doc, desk.text, caret, Side::left).value()}};
    });
    desk.history.on_pop([&](UndoDirection, IdSpan, const UndoNote& note) {
        for (const Cursor& cursor : note.cursors)
            shown.push_back(resolve(desk.doc, cursor).value().pos);
    });
    desk.type(0, "hello world");
    desk.commit();
    caret = 6;  // The selection when the word is deleted.
    desk.erase(6, 5);
    desk.commit();
    EXPECT_EQ(desk.history.top(UndoDirection::undo)->value, Value("typed"));

    EXPECT_TRUE(desk.undo());
    EXPECT_EQ(desk.history.top(UndoDirection::redo)->value, Value("back"));
    desk.type(0, "> ");
    desk.history.committed(desk.doc.commit({.origin = ""}), 0);

    EXPECT_EQ(shown, std::vector<std::size_t>{11}) << "the caret was at the end once the word went";
}

TEST(Undo, ACursorFollowsWhatCameBack) {
    Desk desk;
    std::vector<std::size_t> shown;
    Cursor selected;
    desk.history.on_push([&](UndoDirection, IdSpan, const Commit*) {
        return UndoNote{{}, {selected}};
    });
    desk.history.on_pop([&](UndoDirection, IdSpan, const UndoNote& note) {
        shown.push_back(resolve(desk.doc, note.cursors.at(0)).value().pos);
    });
    desk.type(0, "abcdef");
    desk.commit();
    selected = cursor_at(desk.doc, desk.text, 3).value();
    desk.erase(1, 4);
    desk.commit();

    EXPECT_TRUE(desk.undo());

    EXPECT_EQ(desk.read(), "abcdef");
    EXPECT_EQ(shown, std::vector<std::size_t>{3});
}

}  // namespace
}  // namespace quire::crdt
