#include "crdt/doc/tree.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/words_for_test.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/forest_for_test.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/tree_values.h"
#include "crdt/ids/container_text.h"

namespace quire::crdt {
namespace {

const TreeDelta& delta_of(const Diff& diff) {
    return std::get<TreeDelta>(diff.at(0).delta);
}

// --- local edits ---

TEST(Tree, ChildrenStandWhereTheyWerePut) {
    Forest a(1);
    const OpId first = a.create();
    const OpId last = a.create();
    a.create(std::nullopt, 0);
    a.create(std::nullopt, 2);
    a.create(last);
    a.create(last, 0);

    EXPECT_EQ(a.shown(),
              "2@1 7F80\n"
              "0@1 80\n"
              "3@1 817F80\n"
              "1@1 8180\n"
              "  5@1 7F80\n"
              "  4@1 80\n");
    EXPECT_EQ(a.doc.tree(a.tree).children(last), (std::vector<OpId>{{1, 5}, {1, 4}}));
    EXPECT_EQ(a.doc.tree(a.tree).child(std::nullopt, 1), first);
    check_invariants(a.doc);
}

TEST(Tree, AMoveCountsPlacesWithoutTheNode) {
    Forest a(1);
    const OpId x = a.create();
    const OpId y = a.create();
    const OpId z = a.create();

    EXPECT_EQ(a.move(x, std::nullopt, 2), "");
    EXPECT_EQ(a.doc.tree(a.tree).children(), (std::vector<OpId>{y, z, x}));
    EXPECT_EQ(a.move(x, std::nullopt, 3), "out_of_bound");
    EXPECT_EQ(a.move(x, y), "");
    EXPECT_EQ(a.doc.tree(a.tree).children(), (std::vector<OpId>{y, z}));
    EXPECT_EQ(a.doc.tree(a.tree).node(x)->depth, 1U);
}

TEST(Tree, AMoveToWhereTheNodeIsMakesNoOp) {
    Forest a(1);
    a.create();
    const OpId node = a.create();
    const std::size_t ops = a.doc.history().op_count();

    EXPECT_EQ(a.move(node, std::nullopt, 1), "");
    EXPECT_EQ(a.move(node), "");

    a.doc.commit();
    EXPECT_EQ(a.doc.history().op_count(), ops + 2);
}

TEST(Tree, ImpossibleEditsSayWhy) {
    Forest a(1);
    const OpId top = a.create();
    const OpId below = a.create(top);
    const OpId gone = a.create();
    a.erase(gone);
    a.doc.commit();
    const std::size_t ops = a.doc.history().op_count();

    EXPECT_EQ(a.move(top, top), "cyclic_move");
    EXPECT_EQ(a.move(top, below), "cyclic_move");
    EXPECT_EQ(a.move(gone), "node_not_found");
    EXPECT_EQ(a.move({9, 9}), "node_not_found");
    EXPECT_EQ(a.move(top, OpId{9, 9}), "node_not_found");
    EXPECT_EQ(a.move(top, gone), "node_not_found");
    EXPECT_EQ(a.erase(gone), "node_not_found");
    EXPECT_EQ(reason(a.doc.tree(a.tree).create(gone)), "node_not_found");
    EXPECT_EQ(reason(a.doc.tree(a.tree).create(top, 2)), "out_of_bound");
    EXPECT_EQ(reason(a.doc.tree(a.tree).meta(gone)), "node_not_found");
    const Handle text = a.doc.open(ContainerId::root("x", ContainerKind::text));
    EXPECT_EQ(reason(a.doc.tree(text).create()), "wrong_kind");
    EXPECT_TRUE(a.doc.pending().empty());
    EXPECT_EQ(a.doc.history().op_count(), ops);
}

TEST(Tree, SiblingsAtOnePositionMakeRoom) {
    Forest a(1), b(2), c(3);
    a.create();
    b.create();
    c.create();
    c.create();
    a.pull(b);
    a.pull(c);

    a.create(std::nullopt, 1);

    EXPECT_EQ(a.shown(),
              "0@1 80\n"
              "1@1 817E80\n"
              "0@2 817F80\n"
              "0@3 817F8180\n"
              "1@3 8180\n");
    sync(a, b);
}

TEST(Tree, SiblingsWhosePositionsLeaveNoRoomMakeSome) {
    Forest a(1);
    const auto imported =
        a.doc.import({{{7, 0},
                       {},
                       0,
                       0,
                       "",
                       {{kTree, 0, TreeCreate{{7, 0}, std::nullopt, {}}},
                        {kTree, 1, TreeCreate{{7, 1}, std::nullopt, {0x80}}},
                        {kTree, 2, TreeCreate{{7, 2}, std::nullopt, {0x80, 0x00}}}}}});
    ASSERT_TRUE(imported);

    const OpId first = a.create(std::nullopt, 0);
    const OpId fourth = a.create(std::nullopt, 3);

    EXPECT_EQ(a.doc.tree(a.tree).children(),
              (std::vector<OpId>{first, {7, 0}, {7, 1}, fourth, {7, 2}}));
    check_invariants(a.doc);
}

// --- merging: by (lamport, peer), one op after another ---

TEST(Tree, TheLaterOfTwoMovesWins) {
    Forest a(1), b(2);
    const OpId x = a.create();
    const OpId left = a.create();
    const OpId right = a.create();
    b.pull(a);
    a.move(x, left);
    b.move(x, right);

    sync(a, b);

    EXPECT_EQ(a.doc.tree(a.tree).node(x)->parent, right);
}

TEST(Tree, MovesThatWouldMakeACycleTogetherDoNot) {
    Forest a(1), b(2);
    const OpId x = a.create();
    const OpId y = a.create();
    b.pull(a);
    a.move(x, y);
    b.move(y, x);

    sync(a, b);

    EXPECT_EQ(a.doc.tree(a.tree).node(x)->parent, y);
    EXPECT_EQ(a.doc.tree(a.tree).node(y)->parent, std::nullopt);
}

TEST(Tree, ALateOpUndoesMovesThatOnlyHeldWithoutIt) {
    Forest a(1), b(2), c(3);
    const OpId x = a.create();
    const OpId y = a.create();
    b.pull(a);
    c.pull(a);
    a.move(x, y);  // Ranks lowest, and arrives last at c.
    b.move(y, x);
    c.pull(b);
    EXPECT_EQ(c.doc.tree(c.tree).node(y)->parent, x);

    const Imported imported = c.pull(a);

    EXPECT_EQ(c.doc.tree(c.tree).node(x)->parent, y);
    EXPECT_EQ(delta_of(imported.diff).size(), 2U);
    check_invariants(c.doc);
}

TEST(Tree, AnErasedSubtreeComesBackWithALaterMove) {
    Forest a(1), b(2);
    const OpId top = a.create();
    const OpId middle = a.create(top);
    const OpId leaf = a.create(middle);
    const Handle meta = a.doc.open(*a.doc.tree(a.tree).meta(leaf));
    ASSERT_TRUE(a.doc.map(meta).set("title", "leaf"));
    b.pull(a);
    a.erase(top);
    a.doc.commit();
    EXPECT_EQ(a.shown(), "");
    EXPECT_FALSE(a.doc.is_alive(meta));
    EXPECT_FALSE(a.doc.map(meta).set("title", "no"));
    b.create();
    b.move(middle);  // Later than the erase, which it did not see.

    const Imported imported = a.pull(b);
    sync(a, b);

    EXPECT_EQ(a.doc.tree(a.tree).node(middle)->parent, std::nullopt);
    EXPECT_EQ(a.doc.tree(a.tree).node(leaf)->parent, middle);
    EXPECT_FALSE(a.doc.tree(a.tree).node(top));
    EXPECT_TRUE(a.doc.is_alive(meta));
    EXPECT_EQ(*a.doc.value(meta).get("title"), Value("leaf"));
    const TreeDelta& delta = delta_of(imported.diff);
    ASSERT_EQ(delta.size(), 3U);
    EXPECT_TRUE(std::all_of(delta.begin(), delta.end(), [](const TreeAction& action) {
        return action.kind == TreeAction::Kind::create;
    }));
}

TEST(Tree, ANodeBelowAnErasedOneCanBeMovedOut) {
    Forest a(1);
    const OpId top = a.create();
    const OpId leaf = a.create(top);
    a.erase(top);

    EXPECT_EQ(a.move(leaf), "");

    EXPECT_EQ(a.doc.tree(a.tree).children(), std::vector<OpId>{leaf});
    check_invariants(a.doc);
}

TEST(Tree, ANodeWhoseParentNobodyMadeIsNotSeen) {
    Forest a(1);
    const auto imported =
        a.doc.import({{{7, 0}, {}, 0, 0, "", {{kTree, 0, TreeCreate{{7, 0}, OpId{8, 8}, {0x80}}}}}},
                     {.want_diff = true});

    ASSERT_TRUE(imported);
    EXPECT_EQ(a.shown(), "");
    EXPECT_TRUE(imported->diff.empty());
    check_invariants(a.doc);
}

TEST(Tree, ANodeMadeByAnotherNameThanItsOpIsRefused) {
    Forest a(1);
    a.create();
    a.doc.commit();

    const auto imported = a.doc.import(
        {{{7, 0}, {}, 0, 0, "", {{kTree, 0, TreeCreate{{7, 1}, std::nullopt, {0x80}}}}}});

    EXPECT_EQ(reason(imported), "corrupt");
    EXPECT_EQ(a.shown(), "0@1 80\n");
}

TEST(Tree, AFailedImportLeavesTheTreeAsItWas) {
    Forest a(1);
    const OpId node = a.create();
    a.create(node);
    a.doc.commit();
    const std::string before = a.shown();
    const ContainerId text = ContainerId::root("x", ContainerKind::text);

    const auto imported = a.doc.import({{{7, 0},
                                         {},
                                         0,
                                         0,
                                         "",
                                         {{kTree, 0, TreeErase{node}},
                                          {kTree, 1, TreeCreate{{7, 1}, std::nullopt, {0x80}}},
                                          {text, 2, TextInsert{5, "beyond"}}}}});

    EXPECT_FALSE(imported);
    EXPECT_EQ(a.shown(), before);
    a.create(node);
    check_invariants(a.doc);
}

TEST(Tree, ValuesNestNodesWithWhatTheyHold) {
    Forest a(1);
    const OpId top = a.create();
    const OpId leaf = a.create(top);
    ASSERT_TRUE(a.doc.map(a.doc.open(*a.doc.tree(a.tree).meta(leaf))).set("k", 1));

    const List none;
    EXPECT_EQ(a.doc.value(a.tree), Value(List{Map{{"id", "0@1"},
                                                  {"index", 0},
                                                  {"fractional_index", "80"},
                                                  {"meta", Map()},
                                                  {"children", List{Map{{"id", "1@1"},
                                                                        {"index", 0},
                                                                        {"fractional_index", "80"},
                                                                        {"meta", Map{{"k", 1}}},
                                                                        {"children", none}}}}}}));
}

TEST(Tree, ACopyOfTheStateHoldsErasedNodesToo) {
    Forest a(1);
    const OpId top = a.create();
    const OpId leaf = a.create(top);
    a.erase(top);
    ASSERT_TRUE(a.doc.commit().span.size() == 3);
    ASSERT_TRUE(a.doc.import(
        {{{7, 0}, {}, 0, 0, "", {{kTree, 0, TreeCreate{{7, 0}, OpId{8, 8}, {0x80}}}}}}));

    const auto places = Inspection(a.doc).tree_places(a.tree);

    ASSERT_EQ(places.size(), 2U);
    EXPECT_EQ(places[0].id, top);
    EXPECT_TRUE(places[0].erased);
    EXPECT_EQ(places[0].last_move, (OpId{1, 2}));
    EXPECT_EQ(places[0].lamport, 2U);
    EXPECT_EQ(places[1].id, leaf);
    EXPECT_EQ(places[1].parent, top);
    EXPECT_EQ(places[1].last_move, leaf);
    EXPECT_EQ(places[1].position, Bytes{0x80});
}

TEST(Tree, ATreeStandsInAListOrAMap) {
    Forest a(1);
    const Handle list = a.doc.open(ContainerId::root("l", ContainerKind::list));
    const Handle tree = a.doc.open(*a.doc.list(list).insert_container(0, ContainerKind::tree));
    const OpId node = *a.doc.tree(tree).create();
    const Handle meta = a.doc.open(*a.doc.tree(tree).meta(node));
    ASSERT_TRUE(a.doc.map(meta).set("k", 1));
    EXPECT_TRUE(a.doc.is_alive(meta));

    ASSERT_TRUE(a.doc.list(list).erase(0, 1));

    EXPECT_FALSE(a.doc.is_alive(meta));
    EXPECT_FALSE(a.doc.tree(tree).create());
}

// --- deep and wide ---

TEST(Tree, DepthCostsNoStack) {
    Forest a(1);
    std::optional<OpId> parent;
    for (int i = 0; i < 5'000; ++i) parent = a.create(parent);
    a.doc.commit();
    EXPECT_EQ(a.doc.tree(a.tree).node(*parent)->depth, 4'999U);
    EXPECT_EQ(a.move(a.doc.tree(a.tree).child(std::nullopt, 0), parent), "cyclic_move");

    Forest b(2);
    b.pull(a);

    EXPECT_EQ(b.doc.tree(b.tree).nodes().size(), 5'000U);
    EXPECT_TRUE(b.doc.value(b.tree).is_list());
    b.erase(b.doc.tree(b.tree).child(std::nullopt, 0));
    a.pull(b);
    EXPECT_EQ(a.shown(), "");
}

TEST(Tree, ADeepValueEndsWhereValuesMay) {
    Forest a(1);
    std::optional<OpId> parent;
    for (int i = 0; i < 3 * kMaxValueDepth; ++i) parent = a.create(parent);

    int depth = 0;
    const Value value = a.doc.value(a.tree);
    for (const Value* at = &value; !at->as_list().empty(); ++depth)
        at = at->as_list()[0].get("children");

    EXPECT_EQ(depth, kMaxValueDepth);
}

}  // namespace
}  // namespace quire::crdt
