#include "crdt/doc/cursor.h"

#include <gtest/gtest.h>

#include "crdt/doc/doc.h"
#include "crdt/doc/list.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"

namespace quire::crdt {
namespace {

struct Page {
    explicit Page(PeerId peer = 1)
        : doc(peer),
          text(doc.open(ContainerId::root("t", ContainerKind::text))),
          list(doc.open(ContainerId::root("l", ContainerKind::list))) {}

    void type(std::size_t at, std::string_view what) {
        EXPECT_TRUE(doc.text(text).insert({at}, what));
    }
    void erase(std::size_t at, std::size_t count) {
        EXPECT_TRUE(doc.text(text).erase({at}, {count}));
    }
    Cursor on(std::size_t at, Side side = Side::middle) {
        return cursor_at(doc, text, at, side).value();
    }
    CursorPlace where(const Cursor& cursor) { return resolve(doc, cursor).value(); }
    void pull(Page& other) {
        doc.commit();
        other.doc.commit();
        EXPECT_TRUE(doc.import(other.doc.changes_since(doc.version())));
    }

    Doc doc;
    Handle text, list;
};

TEST(Cursor, FollowsItsCharacterThroughEditsElsewhere) {
    Page page;
    page.type(0, "hello world");
    const Cursor cursor = page.on(6, Side::left);

    page.type(0, "oh, ");
    page.erase(1, 2);
    page.type(13, "!");

    EXPECT_EQ(page.where(cursor).pos, 8U);
    EXPECT_EQ(page.where(cursor).side, Side::left);
    EXPECT_FALSE(page.where(cursor).renewed);
}

TEST(Cursor, OnADeletedCharacterStandsWhereItWouldBe) {
    Page page;
    page.type(0, "abcdef");
    const Cursor cursor = page.on(3, Side::right);
    page.erase(1, 4);

    const CursorPlace place = page.where(cursor);

    EXPECT_EQ(place.pos, 1U);
    EXPECT_EQ(place.side, Side::left);
    ASSERT_TRUE(place.renewed);
    EXPECT_EQ(place.renewed->anchor, (OpId{1, 5}));
    page.type(1, "XY");
    EXPECT_EQ(page.where(cursor).pos, 3U) << "what is typed there comes before the gone character";
}

TEST(Cursor, AtTheEndStaysAtTheEnd) {
    Page page;
    page.type(0, "ab");
    const Cursor end = page.on(2, Side::left);
    const Cursor start = page.on(0, Side::left);

    page.type(2, "cd");
    page.type(0, "__");

    EXPECT_EQ(page.where(end).pos, 6U);
    EXPECT_EQ(page.where(end).side, Side::right);
    EXPECT_EQ(page.where(start).pos, 2U);
}

TEST(Cursor, InAnEmptyTextStandsAtTheStartOrTheEnd) {
    Page page;
    const Cursor start = page.on(0);
    const Cursor end = page.on(0, Side::right);
    EXPECT_EQ(start.side, Side::left);

    page.type(0, "abc");

    EXPECT_EQ(page.where(start).pos, 0U);
    EXPECT_EQ(page.where(end).pos, 3U);
}

TEST(Cursor, MeansTheSameInEveryCopy) {
    Page a(1), b(2);
    a.type(0, "one two");
    b.pull(a);
    const Cursor cursor = a.on(4);
    a.type(0, "zero ");
    b.erase(0, 4);
    b.type(0, "1 ");
    a.pull(b);
    b.pull(a);

    EXPECT_EQ(a.where(cursor).pos, b.where(cursor).pos);
    EXPECT_EQ(a.doc.text(a.text).rope().str().substr(a.where(cursor).pos), "two");
}

TEST(Cursor, InAListStandsOnAnElement) {
    Page page;
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(page.doc.list(page.list).insert(i, i));
    const Cursor cursor = cursor_at(page.doc, page.list, 2).value();

    EXPECT_TRUE(page.doc.list(page.list).insert(0, "first"));
    EXPECT_EQ(page.where(cursor).pos, 3U);
    EXPECT_TRUE(page.doc.list(page.list).erase(3, 2));

    EXPECT_EQ(page.where(cursor).pos, 3U);
    EXPECT_EQ(page.where(cursor).renewed, (Cursor{page.doc.id_of(page.list), {}, Side::right, 3}));
}

// Two moves of one element make two slots: the one that loses stays, and shows nothing.
struct MovedTwice {
    MovedTwice() {
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_TRUE(loser.doc.movable_list(list).insert(i, int(i)));
        first = cursor_at(loser.doc, list, 2, Side::right).value();
        winner.pull(loser);
        EXPECT_TRUE(loser.doc.movable_list(list).move(2, 0));
        moved = cursor_at(loser.doc, list, 0, Side::right).value();
        EXPECT_TRUE(winner.doc.movable_list(winner.doc.open(kMovable)).move(2, 1));
        loser.pull(winner);
        EXPECT_EQ(loser.doc.value(list), (List{0, 2, 1}));
    }

    static inline const ContainerId kMovable = ContainerId::root("m", ContainerKind::movable_list);
    Page loser{5}, winner{6};
    Handle list = loser.doc.open(kMovable);
    Cursor first, moved;  // At the element, and at the slot of the lost move.
};

TEST(Cursor, OnASlotWhoseMoveLostKeepsItsPlaceAndSide) {
    MovedTwice page;

    EXPECT_EQ(page.loser.where(page.moved).pos, 0U);
    EXPECT_EQ(page.loser.where(page.moved).side, Side::right);
    EXPECT_FALSE(page.loser.where(page.moved).renewed);
    EXPECT_EQ(page.loser.where(page.first).pos, 3U);
    EXPECT_EQ(page.loser.where(page.first).side, Side::left) << "that slot is gone";
    EXPECT_TRUE(page.loser.where(page.first).renewed);
}

TEST(Cursor, OnASlotWhoseMoveLostKeepsItsPlaceInAnEarlierVersion) {
    MovedTwice page;
    const Frontiers then = page.loser.doc.frontiers();
    EXPECT_TRUE(page.loser.doc.movable_list(page.list).erase(0, 3));
    EXPECT_TRUE(page.loser.doc.movable_list(page.list).insert(0, "later"));
    page.loser.doc.commit();
    ASSERT_TRUE(page.loser.doc.checkout(then));

    EXPECT_EQ(page.loser.where(page.moved).pos, 0U);
    EXPECT_EQ(page.loser.where(page.moved).side, Side::right);
    EXPECT_EQ(page.loser.where(page.first).pos, 3U);
    EXPECT_EQ(page.loser.where(page.first).side, Side::left);
}

TEST(Cursor, OfADetachedDocumentStandsInTheVersionThatIsShown) {
    Page page;
    page.type(0, "hello world");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(page.doc.list(page.list).insert(i, i));
    page.doc.commit();
    const Frontiers then = page.doc.frontiers();
    const Cursor word = page.on(6);
    const Cursor element = cursor_at(page.doc, page.list, 1).value();
    page.type(0, "oh, ");
    page.erase(10, 5);
    EXPECT_TRUE(page.doc.list(page.list).erase(0, 2));
    page.doc.commit();
    const Cursor later = page.on(0);
    ASSERT_TRUE(page.doc.checkout(then));

    EXPECT_EQ(page.where(word).pos, 6U);
    EXPECT_EQ(page.where(word).side, Side::middle);
    EXPECT_EQ(page.where(element).pos, 1U);
    EXPECT_EQ(page.on(6).anchor, word.anchor);
    EXPECT_EQ(cursor_at(page.doc, page.list, 1).value().anchor, element.anchor);
    EXPECT_EQ(resolve(page.doc, later).error().reason(), "unknown_cursor");
    page.doc.checkout_to_latest();
    EXPECT_EQ(page.where(word).pos, 10U);
    EXPECT_EQ(page.where(element).pos, 0U);
}

TEST(Cursor, IsRefusedWithoutAnAtomToStandOn) {
    Page page(1), other(2);
    page.type(0, "ab");
    other.type(0, "far away");
    const Handle map = page.doc.open(ContainerId::root("m", ContainerKind::map));

    EXPECT_EQ(cursor_at(page.doc, page.text, 3).error().reason(), "out_of_bound");
    EXPECT_EQ(cursor_at(page.doc, map, 0).error().reason(), "wrong_kind");
    EXPECT_EQ(resolve(page.doc, other.on(1)).error().reason(), "unknown_cursor");
    Cursor moved = page.on(1);
    moved.container = page.doc.id_of(page.list);
    EXPECT_EQ(resolve(page.doc, moved).error().reason(), "unknown_cursor");
    page.erase(0, 1);
    Cursor on_delete = page.on(0);
    on_delete.anchor = OpId{1, 2};
    EXPECT_EQ(resolve(page.doc, on_delete).error().reason(), "unknown_cursor");
}

}  // namespace
}  // namespace quire::crdt
