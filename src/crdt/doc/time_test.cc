#include <functional>

#include <gtest/gtest.h>

#include "base/must.h"
#include "base/words_for_test.h"
#include "crdt/doc/apply.h"
#include "crdt/doc/body.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/events.h"
#include "crdt/doc/history.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/replica_for_test.h"
#include "crdt/doc/text.h"

namespace quire::crdt {
namespace {

struct Written {
    Doc doc{1};
    Handle text = doc.open(ContainerId::root("t", ContainerKind::text));
    Handle list = doc.open(ContainerId::root("l", ContainerKind::list));
    Handle map = doc.open(ContainerId::root("m", ContainerKind::map));

    Frontiers type(std::size_t at, std::string_view what) {
        EXPECT_TRUE(doc.text(text).insert({at}, what));
        doc.commit();
        return doc.frontiers();
    }
};

TEST(Time, ADetachedDocumentShowsItsVersionAndRefusesEdits) {
    Written a;
    const Frontiers early = a.type(0, "one");
    a.type(3, " two");

    ASSERT_TRUE(a.doc.checkout(early));

    EXPECT_TRUE(a.doc.is_detached());
    EXPECT_EQ(a.doc.text(a.text).rope().str(), "one");
    EXPECT_EQ(a.doc.frontiers(), early);
    EXPECT_EQ(a.doc.version().end_of(1), 3);
    EXPECT_EQ(a.doc.history().version().end_of(1), 7);
    EXPECT_EQ(reason(a.doc.text(a.text).insert({0}, "x")), "detached");
    EXPECT_EQ(reason(a.doc.map(a.map).set("k", 1)), "detached");
    EXPECT_EQ(reason(revert_to(a.doc, early)), "detached");
    a.doc.checkout_to_latest();
    EXPECT_FALSE(a.doc.is_detached());
    EXPECT_EQ(a.doc.text(a.text).rope().str(), "one two");
}

TEST(Time, ImportsExtendOnlyTheHistoryOfADetachedDocument) {
    Written a;
    a.type(0, "one");
    Doc b = a.doc.fork(2);
    ASSERT_TRUE(b.text(b.open(a.doc.id_of(a.text))).insert({3}, "!"));
    b.commit();
    a.doc.detach();

    ASSERT_TRUE(a.doc.import(b.changes_since({})));

    EXPECT_EQ(a.doc.text(a.text).rope().str(), "one");
    EXPECT_EQ(a.doc.history().frontiers(), (Frontiers{{2, 0}}));
    a.doc.checkout_to_latest();
    EXPECT_EQ(a.doc.text(a.text).rope().str(), "one!");
    check_invariants(a.doc);
}

// Many edits are taken back in one walk over all items; a delete is, too, of which that version has
// a part.
TEST(Time, AVersionWithinADeleteIsReachedAcrossManyEdits) {
    Written a;
    a.type(0, "0123456789");
    ASSERT_TRUE(a.doc.text(a.text).erase({2}, {6}));
    a.doc.commit();
    for (int i = 0; i < 30; ++i) a.type(0, "x");
    Result<Doc> b = fork_at(a.doc, {{1, 12}}, 2);
    ASSERT_TRUE(b);
    const Handle text = b->open(a.doc.id_of(a.text));
    ASSERT_EQ(b->text(text).rope().str(), "0156789");
    ASSERT_TRUE(b->text(text).insert({4}, "!"));
    b->commit();

    ASSERT_TRUE(a.doc.import(b->changes_since(a.doc.version())));

    EXPECT_EQ(a.doc.text(a.text).rope().str(), std::string(30, 'x') + "01!89");
    check_invariants(a.doc);
}

TEST(Time, ADetachedDocumentIsEditedAsABranch) {
    Written written;
    Doc& doc = written.doc;
    const Frontiers early = written.type(0, "one");
    written.type(3, " two");
    PeerId next = 50;
    doc.edit_detached([&] { return ++next; });
    std::vector<Event> events;
    const Subscription subscription =
        subscribe_root(doc, [&](const Event& event) { events.push_back(event); });
    ASSERT_TRUE(doc.checkout(early));
    EXPECT_EQ(doc.peer(), 51U);
    ASSERT_TRUE(doc.text(written.text).insert({0}, "x"));
    const ContainerId child =
        doc.map(written.map).insert_container("k", ContainerKind::list).value();
    ASSERT_TRUE(doc.list(doc.open(child)).insert(0, 7));
    doc.commit();
    EXPECT_TRUE(doc.is_detached());
    EXPECT_EQ(doc.value(written.text), Value("xone"));
    EXPECT_EQ(doc.frontiers(), (Frontiers{{51, 2}}));
    EXPECT_EQ(doc.history().frontiers().size(), 2U);
    // Imports extend the history only, also by containers that the branch does not have.
    Doc other = fork_at(doc, early, 9).value();
    ASSERT_TRUE(other.list(other.open(ContainerId::root("new", ContainerKind::list))).insert(0, 1));
    other.commit();
    ASSERT_TRUE(doc.import(other.changes_since({})));
    EXPECT_EQ(doc.value(written.text), Value("xone"));
    const Handle late = doc.open(ContainerId::root("late", ContainerKind::text));
    ASSERT_TRUE(doc.text(late).insert({0}, "l"));

    doc.checkout_to_latest();
    EXPECT_FALSE(doc.is_detached());
    EXPECT_EQ(doc.peer(), 52U);
    EXPECT_EQ(doc.value(written.text), Value("xone two"));
    EXPECT_EQ(doc.value(late), Value("l"));
    EXPECT_EQ(doc.value(doc.open(child)), Value(List{7}));
    EXPECT_EQ(events.size(), 4U);  // Two checkouts and two commits.
    check_invariants(doc);
}

TEST(Time, ADocumentThatAnUndoHistoryFollowsStaysReadOnlyWhileDetached) {
    Written written;
    const Frontiers early = written.type(0, "one");
    written.type(3, " two");
    written.doc.edit_detached([] { return PeerId{50}; });
    body_of(written.doc).follow_numbers();
    ASSERT_TRUE(written.doc.checkout(early));
    EXPECT_FALSE(written.doc.text(written.text).insert({0}, "x"));
    EXPECT_EQ(written.doc.peer(), 1U);
}

TEST(Time, AnUnknownVersionChangesNothing) {
    Written a;
    a.type(0, "one");

    EXPECT_EQ(reason(a.doc.checkout({{9, 0}})), "unknown_version");
    EXPECT_EQ(reason(a.doc.checkout({{1, 3}})), "unknown_version");
    EXPECT_EQ(reason(a.doc.history().diff({}, {{9, 0}})), "unknown_version");
    EXPECT_EQ(reason(fork_at(a.doc, {{9, 0}}, 3)), "unknown_version");
    EXPECT_FALSE(a.doc.is_detached());
}

TEST(Time, CheckingOutTheLatestVersionDetachesOnlyWhereSomethingElseWasShown) {
    Written a;
    const Frontiers early = a.type(0, "one");
    const Frontiers late = a.type(0, "two");

    ASSERT_TRUE(a.doc.checkout(late));
    EXPECT_FALSE(a.doc.is_detached());
    ASSERT_TRUE(a.doc.checkout(early));
    ASSERT_TRUE(a.doc.checkout({{1, 2}, {1, 5}}));  // The first head is implied.
    EXPECT_TRUE(a.doc.is_detached());
    EXPECT_EQ(a.doc.frontiers(), late);
    ASSERT_TRUE(a.doc.checkout(late));
    EXPECT_FALSE(a.doc.is_detached());
}

TEST(Time, AVersionHidesConcurrentOpsThatArrivedEarlier) {
    Written a;
    a.type(0, "mine");
    Doc b(2);
    ASSERT_TRUE(b.map(b.open(a.doc.id_of(a.map))).set("k", 1));
    b.commit();
    ASSERT_TRUE(a.doc.import(b.changes_since({})));

    ASSERT_TRUE(a.doc.checkout(b.frontiers()));

    EXPECT_EQ(a.doc.text(a.text).rope().str(), "");
    EXPECT_EQ(a.doc.map(a.map).get("k"), Slot(Value(1)));
}

TEST(Time, AContainerThatBecomesVisibleIsReportedWhole) {
    Written a;
    const ContainerId child = *a.doc.map(a.map).insert_container("k", ContainerKind::list);
    ASSERT_TRUE(a.doc.list(a.doc.open(child)).insert(0, 1));
    a.doc.commit();
    const Frontiers with = a.doc.frontiers();
    ASSERT_TRUE(a.doc.list(a.doc.open(child)).insert(1, 2));
    ASSERT_TRUE(a.doc.map(a.map).erase("k"));
    a.doc.commit();
    const Frontiers without = a.doc.frontiers();

    const Diff back = *a.doc.history().diff(without, with);
    const Diff forth = *a.doc.history().diff(with, without);

    ASSERT_EQ(back.size(), 2U);
    EXPECT_EQ(std::get<MapDelta>(back[0].delta), (MapDelta{{"k", child}}));
    EXPECT_EQ(std::get<ListDelta>(back[1].delta), (ListDelta{PutItems{{Value(1)}}}));
    ASSERT_EQ(forth.size(), 1U);
    EXPECT_EQ(std::get<MapDelta>(forth[0].delta), (MapDelta{{"k", std::nullopt}}));
}

TEST(Time, RevertingIsNewEditsAndRemakesChildren) {
    Written a;
    const ContainerId child = *a.doc.list(a.list).insert_container(0, ContainerKind::text);
    ASSERT_TRUE(a.doc.text(a.doc.open(child)).insert({0}, "inside"));
    const Frontiers then = a.type(0, "outside");
    const Value was = a.doc.value();
    ASSERT_TRUE(a.doc.list(a.list).erase(0, 1));
    ASSERT_TRUE(a.doc.text(a.text).erase({2}, {3}));
    const Frontiers before = a.type(0, ">");

    ASSERT_TRUE(revert_to(a.doc, then));
    a.doc.commit();

    EXPECT_EQ(a.doc.value(), was);
    EXPECT_NE(a.doc.list(a.list).child(0), child);
    EXPECT_TRUE(a.doc.history().spans_between(before, a.doc.frontiers())->back.empty());
    check_invariants(a.doc);
}

TEST(Time, ADiffThatDoesNotFitIsRefusedWhole) {
    Written a;
    const Frontiers now = a.type(0, "one");
    const Value was = a.doc.value();
    const ContainerDiff sound{a.doc.id_of(a.map), MapDelta{{"k", Item(Value(1))}}, {}};
    const ContainerDiff beyond{a.doc.id_of(a.text), TextDelta{Retain{2}, Erase{2}}, {}};
    const ContainerDiff wrong{a.doc.id_of(a.list), MapDelta{}, {}};

    EXPECT_EQ(reason(apply_diff(a.doc, {sound, beyond})), "invalid_diff");
    EXPECT_EQ(reason(apply_diff(a.doc, {sound, wrong})), "invalid_diff");

    EXPECT_TRUE(a.doc.pending().empty());
    EXPECT_EQ(a.doc.value(), was);
    EXPECT_EQ(a.doc.frontiers(), now);
}

// Like Loro, the document makes a change of what is pending before it shows another version.
TEST(Time, ImportsAndCheckoutsCommitWhatIsPending) {
    const std::vector<std::pair<const char*, std::function<void(Replica&, Replica&)>>> acts = {
        {"import", [](Replica& a, Replica& b) { must(a.doc.import(b.doc.changes_since({}))); }},
        {"checkout", [](Replica& a, Replica&) { must(a.doc.checkout({})); }},
        {"checkout_to_latest", [](Replica& a, Replica&) { a.doc.checkout_to_latest(); }},
        {"detach", [](Replica& a, Replica&) { a.doc.detach(); }},
    };
    for (const auto& [name, act] : acts) {
        Replica a(1), b(2);
        b.type(0, "theirs ");
        b.doc.commit();
        int events = 0;
        const auto subscribed = subscribe_root(a.doc, [&](const Event&) { ++events; });
        a.type(0, "ours");
        ASSERT_EQ(a.doc.pending().size(), 4U);

        act(a, b);

        EXPECT_TRUE(a.doc.pending().empty()) << name;
        EXPECT_GE(events, 1) << name;
        a.doc.checkout_to_latest();
        EXPECT_EQ(a.doc.history().op_count(), a.read().size()) << name;
        Replica c(3);
        c.pull(a);
        EXPECT_EQ(c.read(), a.read()) << name;
        check_invariants(a.doc);
    }
}

TEST(Time, CommitsWithinTheMergeIntervalAreOneChange) {
    Written a;
    a.doc.settings().merge_interval = 10;
    for (const std::int64_t when : {100, 105, 110, 111}) {
        ASSERT_TRUE(a.doc.text(a.text).insert({0}, "x"));
        a.doc.commit({.timestamp = when});
    }
    ASSERT_TRUE(a.doc.text(a.text).insert({0}, "x"));
    a.doc.commit({.message = "other", .timestamp = 111});

    std::vector<ChangeHeader> headers;
    ASSERT_TRUE(
        a.doc.history().travel_ancestors(a.doc.frontiers(), [&](const ChangeHeader& header) {
            headers.push_back(header);
            return true;
        }));

    ASSERT_EQ(headers.size(), 3U);  // Latest first; the interval runs from a change's first commit.
    EXPECT_EQ(headers[0].message, "other");
    EXPECT_EQ(headers[1].timestamp, 111);
    EXPECT_EQ(headers[1].deps, (Frontiers{{1, 2}}));
    EXPECT_EQ(headers[2].timestamp, 100);
    EXPECT_EQ(headers[2].len, 3);
}

}  // namespace
}  // namespace quire::crdt
