#include "codec/open_snapshot.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/golden_for_test.h"
#include "codec/snapshot.h"
#include "codec/snapshot_for_test.h"
#include "codec/snapshot_reseal_for_test.h"
#include "codec/snapshot_writer.h"
#include "codec/updates.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/cursor.h"
#include "crdt/doc/events.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "crdt/undo/undo_history.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Doc;

const ContainerId kText = ContainerId::root("text", ContainerKind::text);

Doc whole(const Bytes& blob, crdt::PeerId peer) {
    Doc doc(peer);
    EXPECT_TRUE(doc.import(decode_history(blob).value()).has_value());
    return doc;
}

// One wrote "Hello", another deleted it: the history alone has it, and not where its head is.
Bytes hello_is_gone() {
    Doc one(1);
    EXPECT_TRUE(one.text(one.open(kText)).insert({0}, "Hello world").has_value());
    one.commit();
    Doc two(2);
    EXPECT_TRUE(two.import(one.changes_since({})).has_value());
    EXPECT_TRUE(two.text(two.open(kText)).erase({0}, {5}).has_value());
    two.commit();
    return encode_snapshot(two, Compression::none).value();
}

// That history with invalid text in its place, under checksums that match.
Bytes damaged_history() {
    Bytes blob = hello_is_gone();
    const std::string_view deleted = "Hello";
    const auto at = std::search(blob.begin(), blob.end(), deleted.begin(), deleted.end());
    EXPECT_NE(at, blob.end());
    *at = 0xFF;
    reseal_snapshot(blob);
    return blob;
}

TEST(OpenSnapshot, ShowsWhatLoroWroteAndItsHistoryAfterwards) {
    for (const std::string name :
         {"map", "list", "text", "marks", "several_peers", "tree", "emptied", "movable_list",
          "counter", "nested", "mergeable", "big_values", "many_containers", "many_changes"}) {
        const Bytes blob = snapshot_golden(name);
        const Doc full = whole(blob, 9);
        Doc doc(9);

        ASSERT_TRUE(open_snapshot(doc, blob).value()) << name;

        EXPECT_FALSE(doc.history().is_loaded()) << name;
        EXPECT_EQ(doc.version(), full.version()) << name;
        EXPECT_EQ(doc.frontiers(), full.frontiers()) << name;
        EXPECT_EQ(doc.value(), full.value()) << name;
        ASSERT_TRUE(doc.history().load().has_value()) << name;
        EXPECT_TRUE(doc.history().is_loaded());
        EXPECT_EQ(doc.value(), full.value()) << name;
        EXPECT_EQ(doc.changes_since({}).changes(), full.changes_since({}).changes()) << name;
    }
}

TEST(OpenSnapshot, ADamagedBlockOfAnyChangesIsRefusedAtOnce) {
    // Enough changes for several blocks, of which opening reads the last.
    Doc written(1);
    const crdt::Handle text = written.open(crdt::ContainerId::root("t", crdt::ContainerKind::text));
    for (int change = 0; change < 60; ++change) {
        const std::string letters(500, static_cast<char>('a' + change % 26));
        ASSERT_TRUE(written.text(text).insert({0}, letters));
        written.commit({.message = std::to_string(change)});
    }
    const Bytes blob = encode_snapshot(written, Compression::none).value();
    // The history is the first section: its size, then the head of a table and its blocks.
    constexpr std::size_t kBlocks = kEnvelopeSize + 4 + 5;
    ByteReader size{std::span<const std::uint8_t>(blob).subspan(kEnvelopeSize, 4)};
    const std::size_t end = kBlocks + size.u32_le("") / 2;
    for (std::size_t at = kBlocks; at < end; at += 397) {
        Bytes damaged = blob;
        damaged[at] ^= 0x10;
        Doc doc(9);
        const auto opened = open_snapshot(doc, resealed(std::move(damaged)));
        ASSERT_FALSE(opened) << at;
        EXPECT_EQ(opened.error().code(), Errc::corrupt) << at;
        EXPECT_TRUE(crdt::is_blank(doc)) << at;
    }
}

TEST(OpenSnapshot, SnapshotsWithoutAUsableStateAreNotOpened) {
    Doc doc(9);
    EXPECT_FALSE(open_snapshot(doc, snapshot_golden("empty")).value());
    EXPECT_FALSE(open_snapshot(doc, encode_updates({})).value());
    EXPECT_EQ(open_snapshot(doc, {1, 2, 3}).error().code(), Errc::corrupt);
    EXPECT_TRUE(crdt::is_blank(doc));
}

TEST(OpenSnapshot, ADocumentThatSomebodyFollowsOrThatHasSomethingIsNotOpened) {
    const Bytes blob = snapshot_golden("text");
    Doc known = whole(blob, 9);
    EXPECT_FALSE(open_snapshot(known, blob).value());
    Doc told(9);
    const crdt::Subscription subscription = crdt::subscribe_root(told, [](const crdt::Event&) {});
    EXPECT_FALSE(open_snapshot(told, blob).value());
    Doc undone(9);
    const crdt::UndoHistory history(undone);
    EXPECT_FALSE(open_snapshot(undone, blob).value());
}

TEST(OpenSnapshot, HandlesAndSettingsOfTheEmptyDocumentStay) {
    Doc doc(9);
    const crdt::Handle text = doc.open(kText);
    doc.settings().merge_interval = 1000;

    ASSERT_TRUE(open_snapshot(doc, snapshot_golden("text")).value());

    const std::string before = doc.text(text).rope().str();
    EXPECT_FALSE(before.empty());
    ASSERT_TRUE(doc.text(text).insert({0}, "a").has_value());
    doc.commit({.timestamp = 1});
    ASSERT_TRUE(doc.text(text).insert({1}, "b").has_value());
    doc.commit({.timestamp = 900});
    EXPECT_EQ(doc.changes_since(whole(snapshot_golden("text"), 1).version()).changes().size(), 1U);
    ASSERT_TRUE(doc.history().load().has_value());
    EXPECT_EQ(doc.text(text).rope().str(), "ab" + before);
}

TEST(OpenSnapshot, ADamagedHistoryIsReportedWhenItIsNeededAndTheDocumentStays) {
    Doc doc(9);
    ASSERT_TRUE(open_snapshot(doc, damaged_history()).value());
    const crdt::Handle text = doc.open(kText);
    ASSERT_TRUE(doc.text(text).insert({0}, "x").has_value());
    doc.commit();
    const crdt::VersionVector version = doc.version();
    const std::string shown = doc.text(text).rope().str();

    EXPECT_EQ(doc.history().load().error().code(), Errc::corrupt);
    EXPECT_EQ(doc.checkout({}).error().code(), Errc::corrupt);
    EXPECT_EQ(doc.history().diff({}, doc.frontiers()).error().code(), Errc::corrupt);
    EXPECT_EQ(doc.import({}).error().code(), Errc::corrupt);
    EXPECT_EQ(encode_snapshot(doc).error().code(), Errc::corrupt);

    EXPECT_FALSE(doc.history().is_loaded());
    EXPECT_EQ(doc.version(), version);
    EXPECT_EQ(doc.text(text).rope().str(), shown);
    ASSERT_TRUE(doc.text(text).insert({0}, "y").has_value());
}

// A version may name a peer that no state and no head has to do with, and have it at the last id.
TEST(OpenSnapshot, AVersionCanLeaveItsReaderNothingToCountWith) {
    const Bytes blob = hello_is_gone();
    const auto snapshot = Snapshot::open(blob).value();
    SnapshotWriter writer(Compression::none);
    writer.add_changes(snapshot.changes().value());
    Budget budget = snapshot.budget();
    const std::vector<ContainerId> ids = snapshot.containers(budget).value();
    for (const ContainerId& id : ids)
        ASSERT_TRUE(writer.add_state(*snapshot.state(id, budget).value()));
    crdt::VersionVector end = snapshot.end();
    end.set(9, std::numeric_limits<crdt::Counter>::max());
    Doc doc(9);
    ASSERT_TRUE(
        open_snapshot(doc, std::move(writer).finish(end, snapshot.heads()).value()).value());
    const std::string before = doc.text(doc.open(kText)).rope().str();

    EXPECT_EQ(doc.text(doc.open(kText)).insert({0}, "x").error().reason(), "too_large");

    EXPECT_EQ(doc.text(doc.open(kText)).rope().str(), before);
    doc.set_peer(10);
    EXPECT_TRUE(doc.text(doc.open(kText)).insert({0}, "x"));
}

// A transaction that is pending while the history is loaded follows the heads in the snapshot. If
// a head were missing, the commit would lose it.
TEST(OpenSnapshot, AMissingHeadIsNoticedWhenTheHistoryIsRead) {
    Doc one(1);
    ASSERT_TRUE(one.text(one.open(kText)).insert({0}, "one").has_value());
    one.commit();
    Doc two(2);
    const ContainerId tree = ContainerId::root("tree", ContainerKind::tree);
    ASSERT_TRUE(two.tree(two.open(tree)).create().has_value());
    two.commit();
    ASSERT_TRUE(one.import(two.changes_since({})).has_value());
    const Bytes blob = encode_snapshot(one).value();
    const auto snapshot = Snapshot::open(blob).value();
    SnapshotWriter writer(Compression::none);
    writer.add_changes(snapshot.changes().value());
    Budget budget = snapshot.budget();
    ASSERT_TRUE(writer.add_state(*snapshot.state(kText, budget).value()));
    Doc doc(9);
    ASSERT_TRUE(
        open_snapshot(doc, std::move(writer).finish(snapshot.end(), {{1, 2}}).value()).value());
    ASSERT_TRUE(doc.text(doc.open(kText)).insert({0}, "x"));

    EXPECT_EQ(doc.history().load().error().code(), Errc::corrupt);

    EXPECT_FALSE(doc.history().is_loaded());
    EXPECT_EQ(doc.text(doc.open(kText)).rope().str(), "xone");
    doc.commit();
    EXPECT_EQ(doc.frontiers(), (crdt::Frontiers{{9, 0}}));
}

// Loro keeps the state of a counter that was only asked for, and shows it there; its history has
// none.
TEST(OpenSnapshot, ACounterOfNothingIsShownIfTheHistoryHasIt) {
    const ContainerId counter = ContainerId::root("counter", ContainerKind::counter);
    const Bytes blob = hello_is_gone();
    const auto snapshot = Snapshot::open(blob).value();
    SnapshotWriter writer(Compression::none);
    writer.add_changes(snapshot.changes().value());
    Budget budget = snapshot.budget();
    ASSERT_TRUE(writer.add_state(*snapshot.state(kText, budget).value()));
    ContainerState of_nothing;
    of_nothing.id = counter;
    of_nothing.state = CounterState{};
    ASSERT_TRUE(writer.add_state(of_nothing));
    Doc asked(9);
    ASSERT_TRUE(
        open_snapshot(asked, std::move(writer).finish(snapshot.end(), snapshot.heads()).value())
            .value());
    Doc other(1);
    const crdt::Handle there = other.open(counter);
    ASSERT_TRUE(other.counter(there).add(1).has_value());
    ASSERT_TRUE(other.counter(there).add(-1).has_value());
    other.commit();
    Doc written(9);
    ASSERT_TRUE(open_snapshot(written, encode_snapshot(other).value()).value());

    EXPECT_EQ(asked.value().get("counter"), nullptr);
    EXPECT_EQ(asked.counter(asked.open(counter)).value(), 0);
    ASSERT_NE(written.value().get("counter"), nullptr);
    EXPECT_EQ(*written.value().get("counter"), Value(0.0));
}

TEST(OpenSnapshot, ACursorOnWhatWasDeletedAsksTheHistory) {
    const Bytes blob = hello_is_gone();
    Doc doc(9);
    ASSERT_TRUE(open_snapshot(doc, blob).value());
    const Doc full = whole(blob, 9);
    const crdt::Cursor on_hello{kText, full.changes_since({}).changes().front().id,
                                crdt::Side::middle, 0};

    const auto place = crdt::resolve(doc, on_hello);

    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(place->pos, crdt::resolve(full, on_hello)->pos);
    EXPECT_TRUE(doc.history().is_loaded());
}

TEST(OpenSnapshot, APreCommitSubscriberCannotLoadTheHistory) {
    Doc doc(9);
    ASSERT_TRUE(open_snapshot(doc, snapshot_golden("text")).value());
    std::string reason;
    const crdt::Subscription asked = crdt::subscribe_pre_commit(doc, [&](crdt::PreCommit&) {
        const auto loaded = doc.history().load();
        if (!loaded) reason = loaded.error().reason();
    });
    ASSERT_TRUE(doc.text(doc.open(kText)).insert({0}, "x").has_value());

    EXPECT_FALSE(doc.commit().empty());

    EXPECT_EQ(reason, "committing");
    EXPECT_TRUE(doc.history().load().has_value());
}

}  // namespace
}  // namespace quire::codec
