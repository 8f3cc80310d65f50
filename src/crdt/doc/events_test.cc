#include "crdt/doc/events.h"

#include <gtest/gtest.h>

#include "crdt/doc/doc.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"

namespace quire::crdt {
namespace {

ContainerId root(std::string name, ContainerKind kind) {
    return ContainerId::root(std::move(name), kind);
}

struct Listened {
    Doc doc{1};
    Handle text = doc.open(root("t", ContainerKind::text));
    Handle list = doc.open(root("l", ContainerKind::list));
    Handle map = doc.open(root("m", ContainerKind::map));
    std::vector<Event> heard;
    Subscription subscription =
        subscribe_root(doc, [this](const Event& event) { heard.push_back(event); });

    void type(std::size_t at, std::string_view what) {
        EXPECT_TRUE(doc.text(text).insert({at}, what));
    }
};

TEST(Events, ACommitEventHasMessageOriginAndVersions) {
    Listened a;
    a.type(0, "one");
    EXPECT_TRUE(a.heard.empty());

    a.doc.commit({.message = "why", .origin = "here"});

    ASSERT_EQ(a.heard.size(), 1U);
    const Event& event = a.heard[0];
    EXPECT_EQ(event.by, Event::By::local);
    EXPECT_EQ(event.origin, "here");
    EXPECT_EQ(event.message, "why");
    EXPECT_EQ(event.from, Frontiers{});
    EXPECT_EQ(event.to, (Frontiers{{1, 2}}));
    ASSERT_EQ(event.diffs.size(), 1U);
    EXPECT_EQ(std::get<TextDelta>(event.diffs[0].delta), (TextDelta{PutText{"one"}}));
    EXPECT_EQ(event.diffs[0].path, (std::vector<PathStep>{"t"}));
    a.doc.commit();
    EXPECT_EQ(a.heard.size(), 1U);  // Nothing to tell.
}

TEST(Events, ImportAndCheckoutEventsCarryTheirDiffs) {
    Listened a;
    a.type(0, "one");
    a.doc.commit();
    Doc b = a.doc.fork(2);
    const Handle text = b.open(root("t", ContainerKind::text));
    ASSERT_TRUE(b.text(text).insert({3}, "!"));
    b.commit();
    a.heard.clear();

    ASSERT_TRUE(a.doc.import(b.changes_since({}), {.origin = "wire"}));
    ASSERT_TRUE(a.doc.import(b.changes_since({}), {.origin = "wire"}));
    ASSERT_TRUE(a.doc.checkout({{1, 0}}));
    ASSERT_TRUE(a.doc.checkout({{1, 0}}));

    ASSERT_EQ(a.heard.size(), 2U);
    EXPECT_EQ(a.heard[0].by, Event::By::import);
    EXPECT_EQ(a.heard[0].origin, "wire");
    EXPECT_EQ(std::get<TextDelta>(a.heard[0].diffs.at(0).delta),
              (TextDelta{Retain{3}, PutText{"!"}}));
    EXPECT_EQ(a.heard[1].by, Event::By::checkout);
    EXPECT_EQ(a.heard[1].from, (Frontiers{{2, 0}}));
    EXPECT_EQ(a.heard[1].to, (Frontiers{{1, 0}}));
    EXPECT_EQ(std::get<TextDelta>(a.heard[1].diffs.at(0).delta), (TextDelta{Retain{1}, Erase{3}}));
}

TEST(Events, ImportsIntoADetachedDocumentAreReportedWhenItIsAttached) {
    Listened a;
    a.type(0, "one");
    a.doc.commit();
    Doc b = a.doc.fork(2);
    ASSERT_TRUE(b.text(b.open(root("t", ContainerKind::text))).insert({0}, "!"));
    b.commit();
    a.doc.detach();
    a.heard.clear();

    ASSERT_TRUE(a.doc.import(b.changes_since({})));
    EXPECT_TRUE(a.heard.empty());
    a.doc.checkout_to_latest();

    ASSERT_EQ(a.heard.size(), 1U);
    EXPECT_EQ(a.heard[0].by, Event::By::checkout);
    EXPECT_EQ(std::get<TextDelta>(a.heard[0].diffs.at(0).delta), (TextDelta{PutText{"!"}}));
}

TEST(Events, PathsLeadFromTheRootThroughKeysAndIndexes) {
    Listened a;
    ASSERT_TRUE(a.doc.list(a.list).insert(0, "first"));
    const Handle map = a.doc.open(*a.doc.list(a.list).insert_container(1, ContainerKind::map));
    const Handle text = a.doc.open(*a.doc.map(map).insert_container("words", ContainerKind::text));
    a.doc.commit();
    a.heard.clear();

    ASSERT_TRUE(a.doc.list(a.list).insert(0, "before"));
    ASSERT_TRUE(a.doc.text(text).insert({0}, "x"));
    a.doc.commit();

    ASSERT_EQ(a.heard.size(), 1U);
    ASSERT_EQ(a.heard[0].diffs.size(), 2U);
    EXPECT_EQ(a.heard[0].diffs[0].path, (std::vector<PathStep>{"l"}));
    EXPECT_EQ(a.heard[0].diffs[1].path, (std::vector<PathStep>{"l", std::size_t{2}, "words"}));
}

TEST(Events, AContainersSubscriberHearsOfItAndItsDescendants) {
    Listened a;
    const Handle map = a.doc.open(*a.doc.list(a.list).insert_container(0, ContainerKind::map));
    a.doc.commit();
    std::vector<Event> heard;
    const Subscription subscription =
        subscribe(a.doc, a.list, [&](const Event& event) { heard.push_back(event); });

    a.type(0, "elsewhere");
    a.doc.commit();
    EXPECT_TRUE(heard.empty());
    a.type(0, "elsewhere");
    ASSERT_TRUE(a.doc.map(map).set("k", 1));
    a.doc.commit();

    ASSERT_EQ(heard.size(), 1U);
    ASSERT_EQ(heard[0].diffs.size(), 1U);
    EXPECT_EQ(heard[0].diffs[0].container, a.doc.id_of(map));
}

TEST(Events, AnEditInACallbackIsReportedAfterTheEventInProgress) {
    Listened a;
    std::vector<std::string> order;
    const Subscription first = subscribe_root(a.doc, [&](const Event& event) {
        order.push_back("first " + event.origin);
        if (event.origin == "outer") {
            a.type(0, "x");
            a.doc.commit({.origin = "inner"});
        }
    });
    const Subscription second = subscribe_root(
        a.doc, [&](const Event& event) { order.push_back("second " + event.origin); });

    a.type(0, "y");
    a.doc.commit({.origin = "outer"});

    EXPECT_EQ(order, (std::vector<std::string>{"first outer", "second outer", "first inner",
                                               "second inner"}));
}

TEST(Events, ADroppedSubscriptionGetsNoMoreEvents) {
    Listened a;
    int heard = 0;
    Subscription mine;
    mine = subscribe_root(a.doc, [&](const Event&) {
        ++heard;
        mine.unsubscribe();
    });

    a.type(0, "x");
    a.doc.commit();
    a.type(0, "y");
    a.doc.commit();

    EXPECT_EQ(heard, 1);
    {
        Doc gone(9);
        mine = subscribe_root(gone, [](const Event&) {});
    }
    mine.unsubscribe();  // Outlived its document.
}

TEST(Events, LocalUpdatesBringAnotherDocumentUpToDate) {
    Listened a;
    Doc b(2);
    const Subscription subscription = subscribe_local_updates(
        a.doc, [&](const std::vector<Change>& changes) { ASSERT_TRUE(b.import(changes)); });

    a.type(0, "one");
    a.doc.commit();
    a.type(3, " two");
    a.doc.commit();

    EXPECT_EQ(b.value(), a.doc.value());
}

TEST(Events, APreCommitCallbackCanSetMessageAndTime) {
    Listened a;
    const Subscription subscription = subscribe_pre_commit(a.doc, [&](PreCommit& commit) {
        commit.message += " signed";
        commit.timestamp = 7;
        if (commit.begin == 0) a.type(0, "more ");
    });

    a.type(0, "x");
    const Commit commit = a.doc.commit({.message = "m"});

    EXPECT_EQ(commit.span.size(), 6);
    const auto changes = a.doc.changes_since({}).changes();
    EXPECT_EQ(changes.at(0).message, "m signed");
    EXPECT_EQ(changes.at(0).timestamp, 7);
}

}  // namespace
}  // namespace quire::crdt
