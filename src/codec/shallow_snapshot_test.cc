#include "codec/shallow_snapshot.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codec/cursor.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/golden_for_test.h"
#include "codec/inspect.h"
#include "codec/open_snapshot.h"
#include "codec/snapshot.h"
#include "codec/snapshot_for_test.h"
#include "codec/snapshot_reseal_for_test.h"
#include "codec/updates.h"
#include "crdt/doc/apply.h"
#include "crdt/doc/cursor.h"
#include "crdt/doc/events.h"
#include "crdt/doc/history.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/shallow.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Doc;
using crdt::Frontiers;
using crdt::Handle;

const ContainerId kPage = ContainerId::root("page", ContainerKind::text);
const ContainerId kFields = ContainerId::root("fields", ContainerKind::map);

void type(Doc& doc, std::size_t at, std::string_view what) {
    ASSERT_TRUE(doc.text(doc.open(kPage)).insert({at}, what));
    doc.commit();
}

std::string page(Doc& doc) {
    return doc.value(doc.open(kPage)).as_string();
}

// "secret page", then "page", then "a page".
struct Written {
    Doc doc{1};
    Frontiers early;
    Frontiers start;

    Written() {
        type(doc, 0, "secret page");
        early = doc.frontiers();
        EXPECT_TRUE(doc.text(doc.open(kPage)).erase({0}, {7}));
        doc.commit();
        start = doc.frontiers();
        type(doc, 0, "a ");
    }
    Bytes shallow() const { return encode_shallow_snapshot(doc, start, Compression::none).value(); }
};

Doc opened(const Bytes& blob, crdt::PeerId peer = 9) {
    Doc doc(peer);
    EXPECT_TRUE(open_snapshot(doc, blob).value());
    return doc;
}

template <class T>
std::string reason(const Result<T>& result) {
    return result ? std::string() : result.error().reason();
}

TEST(ShallowSnapshot, HoldsTheStateAtItsStartAndWhatCameLater) {
    const Written written;
    const Bytes blob = written.shallow();
    EXPECT_EQ(as_text(blob).find("secret"), std::string_view::npos);
    const BlobInfo info = inspect_blob(blob).value();
    EXPECT_EQ(info.kind, BlobKind::shallow_snapshot);
    EXPECT_EQ(info.start_frontiers, written.start);

    Doc doc = opened(blob);
    EXPECT_EQ(page(doc), "a page");
    EXPECT_EQ(doc.version(), written.doc.version());
    EXPECT_EQ(doc.history().start()->frontiers(), written.start);
    // The op at the start, which comes with what it depended on, and two letters.
    EXPECT_EQ(doc.history().op_count(), 3U);
    EXPECT_TRUE(doc.checkout(written.start));
    EXPECT_EQ(page(doc), "page");
}

TEST(ShallowSnapshot, AVersionBeforeTheStartIsRefusedEverywhere) {
    const Written written;
    Doc doc = opened(written.shallow());
    const Bytes before = encode_snapshot(doc).value();
    for (const Frontiers& version : {written.early, Frontiers{}}) {
        EXPECT_EQ(reason(doc.checkout(version)), "shallow_snapshot");
        EXPECT_EQ(reason(crdt::fork_at(doc, version, 2)), "shallow_snapshot");
        EXPECT_EQ(reason(crdt::revert_to(doc, version)), "shallow_snapshot");
        EXPECT_EQ(reason(doc.history().diff(version, doc.frontiers())), "shallow_snapshot");
        EXPECT_EQ(reason(doc.history().version_of(version)), "shallow_snapshot");
        EXPECT_EQ(reason(encode_shallow_snapshot(doc, version)), "shallow_snapshot");
        EXPECT_EQ(reason(encode_state_only(doc, version)), "shallow_snapshot");
    }
    const std::vector<crdt::IdSpan> trimmed{{1, 3, 9}};
    EXPECT_EQ(reason(crdt::check_retained(doc, trimmed)), "shallow_snapshot");
    EXPECT_EQ(encode_snapshot(doc).value(), before);
    EXPECT_FALSE(doc.is_detached());
}

TEST(ShallowSnapshot, AnUpdateThatDependsOnWhatWasTrimmedIsRefusedWhole) {
    const Written written;
    Doc stranger(2);
    type(stranger, 0, "x");
    Doc branch = crdt::fork_at(written.doc, written.early, 3).value();
    type(branch, 0, "y");
    Doc later = crdt::fork_at(written.doc, written.doc.frontiers(), 4).value();
    type(later, 0, "z");
    Doc doc = opened(written.shallow());
    const Doc* const before[] = {&stranger, &branch};
    for (const Doc* other : before) {
        std::vector<crdt::Change> changes = later.changes_since(doc.version()).changes();
        for (crdt::Change& change : other->changes_since(doc.version()).changes())
            changes.push_back(std::move(change));
        EXPECT_EQ(reason(doc.import(std::move(changes))), "shallow_snapshot");
        EXPECT_EQ(page(doc), "a page");
        EXPECT_EQ(doc.version(), written.doc.version());
    }
    EXPECT_TRUE(doc.import(later.changes_since({})));
    EXPECT_EQ(page(doc), "za page");
}

TEST(ShallowSnapshot, OneThatWaitedIsDroppedWhenItProvesToBeOlderThanTheStart) {
    const Written written;
    Doc doc = opened(written.shallow());
    Doc later = crdt::fork_at(written.doc, written.doc.frontiers(), 4).value();
    type(later, 0, "z");
    // It names an op of another's that comes later, and one that was trimmed.
    const crdt::Change unsound{{5, 0}, {written.early.front(), {4, 0}},       0, 0,
                               "",     {{kPage, 0, crdt::TextInsert{0, "?"}}}};
    ASSERT_EQ(doc.import({unsound}).value().pending.size(), 1U);
    EXPECT_TRUE(doc.import(later.changes_since(doc.version())));
    EXPECT_EQ(page(doc), "za page");
    EXPECT_TRUE(doc.history().waiting().empty());
}

TEST(ShallowSnapshot, IsTakenByADocumentThatHasItsStartAndByNoOther) {
    const Written written;
    const std::vector<Bytes> blobs{written.shallow()};
    Doc known = crdt::fork_at(written.doc, written.start, 9).value();
    BlobHistories histories = read_histories(blobs, known.version()).value();
    EXPECT_TRUE(known.import(std::move(histories.batch)));
    EXPECT_EQ(page(known), "a page");
    EXPECT_TRUE(known.checkout(written.early));

    Doc other(9);
    type(other, 0, "x");
    EXPECT_FALSE(open_snapshot(other, blobs.front()).value());
    EXPECT_EQ(reason(read_histories(blobs, other.version())), "shallow_snapshot");
    const std::vector<Bytes> twice{blobs.front(), blobs.front()};
    EXPECT_EQ(reason(read_histories(twice, other.version())), "shallow_snapshot");
    EXPECT_EQ(first_to_open(blobs).value(), 0U);
}

TEST(ShallowSnapshot, OpensInADocumentThatIsFollowed) {
    const Written written;
    Doc doc(9);
    std::vector<crdt::Event> events;
    const auto subscription =
        crdt::subscribe_root(doc, [&](const crdt::Event& event) { events.push_back(event); });
    // A change that waited for the history is taken in after it.
    Doc later = crdt::fork_at(written.doc, written.doc.frontiers(), 4).value();
    type(later, 0, "z");
    ASSERT_EQ(doc.import(later.changes_since(written.doc.version())).value().pending.size(), 1U);
    EXPECT_TRUE(open_snapshot(doc, written.shallow()).value());
    EXPECT_EQ(page(doc), "za page");
    type(doc, 0, "!");
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[0].by, crdt::Event::By::import);
    EXPECT_EQ(events[0].to, written.doc.frontiers());
    EXPECT_EQ(events[1].to, later.frontiers());
    EXPECT_EQ(events[2].by, crdt::Event::By::local);
}

TEST(ShallowSnapshot, BeginsWhereNothingIsConcurrent) {
    Written written;
    Doc other = crdt::fork_at(written.doc, written.start, 2).value();
    type(other, 0, "b ");
    ASSERT_TRUE(written.doc.import(other.changes_since({})));
    EXPECT_EQ(crdt::start_for(written.doc, written.doc.frontiers()).value(), written.start);
    EXPECT_EQ(crdt::start_for(written.doc, other.frontiers()).value(), written.start);
    EXPECT_EQ(crdt::start_for(written.doc, written.early).value(), written.early);
    type(written.doc, 0, "c ");
    const Frontiers merged = written.doc.frontiers();
    EXPECT_EQ(crdt::start_for(written.doc, merged).value(), merged);
    // Somebody new may go on from there, and nobody who wrote before.
    for (const crdt::PeerId peer : {crdt::PeerId{3}, crdt::PeerId{2}}) {
        Doc later = crdt::fork_at(written.doc, merged, peer).value();
        type(later, 0, "d ");
        EXPECT_EQ(crdt::start_for(later, merged).value(), peer == 3 ? merged : written.start);
    }
    // A shallow document begins nowhere earlier than it does.
    Doc shallow = opened(written.shallow());
    EXPECT_EQ(crdt::start_for(shallow, other.frontiers()).value(), written.start);
}

TEST(ShallowSnapshot, DoesNotBeginBetweenTheHalvesOfAStyle) {
    Doc doc(1);
    type(doc, 0, "bold");
    ASSERT_TRUE(doc.text(doc.open(kPage)).mark({0}, {4}, "bold", true));
    doc.commit();
    type(doc, 0, "x");
    EXPECT_EQ(crdt::start_for(doc, {{1, 4}}).value(), (Frontiers{{1, 5}}));
    EXPECT_EQ(crdt::start_for(doc, {{1, 5}}).value(), (Frontiers{{1, 5}}));
}

// A fuzzer found it: the state at the start had two atoms with one name, and did not open.
TEST(ShallowSnapshot, OfATreeThatErasesANodeThatNobodyMadeIsTheWholeHistory) {
    const ContainerId tree = ContainerId::root("tree", ContainerKind::tree);
    const crdt::OpId node{1, 0};
    Doc doc(9);
    ASSERT_TRUE(doc.import({{{1, 0},
                             {},
                             0,
                             0,
                             "",
                             {{tree, 0, crdt::TreeCreate{node, std::nullopt, {0x80}}},
                              {tree, 1, crdt::TreeMove{node, std::nullopt, {0x81}}},
                              {tree, 2, crdt::TreeErase{{1, 1}}},
                              {kPage, 3, crdt::TextInsert{0, "page"}}}}}));

    EXPECT_TRUE(crdt::start_for(doc, doc.frontiers()).value().empty());
    const std::vector<Bytes> blobs{encode_shallow_snapshot(doc, doc.frontiers()).value()};
    Doc again(8);
    ASSERT_TRUE(again.import(std::move(read_histories(blobs, {}).value().batch)));
    EXPECT_EQ(again.value(), doc.value());
    EXPECT_EQ(again.version(), doc.version());
}

// A reviewer found it: the node is made after the start.
TEST(ShallowSnapshot, OfATreeThatMovesANodeBeforeItIsMadeIsTheWholeHistory) {
    const ContainerId tree = ContainerId::root("tree", ContainerKind::tree);
    Doc doc(9);
    ASSERT_TRUE(doc.import({{{1, 0},
                             {},
                             0,
                             0,
                             "",
                             {{tree, 0, crdt::TreeCreate{{1, 0}, std::nullopt, {0x80}}},
                              {tree, 1, crdt::TreeMove{{1, 3}, std::nullopt, {0x81}}},
                              {kPage, 2, crdt::TextInsert{0, "p"}},
                              {tree, 3, crdt::TreeCreate{{1, 3}, std::nullopt, {0x82}}},
                              {kPage, 4, crdt::TextInsert{1, "q"}}}}}));

    EXPECT_TRUE(crdt::start_for(doc, {{1, 2}}).value().empty());
    EXPECT_TRUE(crdt::start_for(doc, doc.frontiers()).value().empty());
}

// Found likewise: what stands below the node that nobody made was lost, and the move did not bring it back.
TEST(ShallowSnapshot, OfATreeThatPutsANodeBelowOneThatNobodyMadeIsTheWholeHistory) {
    const ContainerId tree = ContainerId::root("tree", ContainerKind::tree);
    Doc doc(9);
    ASSERT_TRUE(doc.import({{{1, 0},
                             {},
                             0,
                             0,
                             "",
                             {{tree, 0, crdt::TreeCreate{{1, 0}, crdt::OpId{7, 7}, {0x80}}},
                              {tree, 1, crdt::TreeCreate{{1, 1}, crdt::OpId{1, 0}, {0x80}}},
                              {kPage, 2, crdt::TextInsert{0, "p"}},
                              {tree, 3, crdt::TreeMove{{1, 0}, std::nullopt, {0x80}}}}}}));

    const std::vector<Bytes> blobs{encode_shallow_snapshot(doc, {{1, 2}}).value()};
    Doc again(8);
    ASSERT_TRUE(again.import(std::move(read_histories(blobs, {}).value().batch)));
    EXPECT_EQ(again.value(), doc.value());
}

// Found likewise: the state at the start has no place for the second letter.
TEST(ShallowSnapshot, OfAHistoryThatEditsADeletedTextIsTheWholeHistory) {
    const ContainerId text = ContainerId::normal({1, 0}, ContainerKind::text);
    Doc doc(9);
    ASSERT_TRUE(doc.import({{{1, 0},
                             {},
                             0,
                             0,
                             "",
                             {{kFields, 0, crdt::MapSet{"t", ContainerKind::text}},
                              {text, 1, crdt::TextInsert{0, "a"}},
                              {kFields, 2, crdt::MapErase{"t"}},
                              {text, 3, crdt::TextInsert{1, "b"}},
                              {kPage, 4, crdt::TextInsert{0, "p"}}}}}));

    const Bytes blob = encode_shallow_snapshot(doc, {{1, 2}}).value();
    EXPECT_TRUE(Snapshot::open(blob).value().start()->heads.empty());
    Doc later = opened(encode_shallow_snapshot(doc, {{1, 4}}).value());
    EXPECT_EQ(later.value(), doc.value());
}

// Found likewise: the state at the start has no place for what becomes of the element.
TEST(ShallowSnapshot, OfAHistoryThatChangesADeletedElementIsTheWholeHistory) {
    const ContainerId list = ContainerId::root("list", ContainerKind::movable_list);
    const crdt::ElementId gone{1, 0};
    const crdt::OpContent changes[] = {crdt::ListSet{gone, Value(3)}, crdt::ListMove{0, 0, gone}};
    for (const crdt::OpContent& change : changes) {
        Doc doc(9);
        ASSERT_TRUE(doc.import({{{1, 0},
                                 {},
                                 0,
                                 0,
                                 "",
                                 {{list, 0, crdt::ListInsert{0, {Value(1), Value(2)}}},
                                  {list, 2, crdt::SequenceDelete{0, 1, {1, 0}}},
                                  {list, 3, change},
                                  {kPage, 4, crdt::TextInsert{0, "p"}}}}}));

        const std::vector<Bytes> blobs{encode_shallow_snapshot(doc, {{1, 2}}).value()};
        Doc again(8);
        ASSERT_TRUE(again.import(std::move(read_histories(blobs, {}).value().batch)));
        EXPECT_EQ(again.value(), doc.value());
        // It can begin where nothing of the element comes later.
        Doc later = opened(encode_shallow_snapshot(doc, {{1, 4}}).value());
        EXPECT_EQ(later.value(), doc.value());
        EXPECT_NE(later.history().start(), nullptr);
    }
}

// A move may name another element than the one at its position: the element's first slot stays then, and is empty.
TEST(ShallowSnapshot, ChangesOfAnElementReachItAndNotTheSlotThatItLeft) {
    const ContainerId list = ContainerId::root("list", ContainerKind::movable_list);
    const crdt::ElementId moved{1, 0};
    Doc doc(9);
    ASSERT_TRUE(doc.import({{{1, 0},
                             {},
                             0,
                             0,
                             "",
                             {{list, 0, crdt::ListInsert{0, {Value(1), Value(2)}}},
                              {list, 2, crdt::ListMove{1, 1, moved}},
                              {kPage, 3, crdt::TextInsert{0, "p"}},
                              {list, 4, crdt::ListSet{moved, Value(3)}}}}}));
    ASSERT_EQ(doc.value(doc.open(list)), Value(List{3}));

    Doc again = opened(encode_shallow_snapshot(doc, {{1, 3}}).value());
    EXPECT_EQ(again.value(), doc.value());
}

// Found likewise: opened at its state, this tree showed the map of a node that another tree made.
TEST(ShallowSnapshot, ATreeThatMovesANodeOfAnotherIsReadFromTheHistory) {
    const ContainerId tree = ContainerId::root("tree", ContainerKind::tree);
    const ContainerId other = ContainerId::root("other", ContainerKind::tree);
    const crdt::OpId node{1, 0};
    Doc doc(9);
    ASSERT_TRUE(doc.import(
        {{{1, 0},
          {},
          0,
          0,
          "",
          {{other, 0, crdt::TreeCreate{node, crdt::OpId{7, 7}, {0x80}}},
           {ContainerId::normal(node, ContainerKind::map), 1, crdt::MapSet{"title", Value("t")}},
           {tree, 2, crdt::TreeMove{node, std::nullopt, {0x80}}}}}}));
    EXPECT_EQ(doc.value().get("tree")->as_list()[0].get("meta")->as_map().size(), 0U);

    const std::vector<Bytes> blobs{encode_snapshot(doc).value()};
    Doc again(8);
    EXPECT_FALSE(open_snapshot(again, blobs[0]).value());
    ASSERT_TRUE(again.import(std::move(read_histories(blobs, {}).value().batch)));
    EXPECT_EQ(again.value(), doc.value());
}

// Newer programs have other kinds, whose states are known to them alone.
TEST(ShallowSnapshot, OfAContainerOfAnUnknownKindIsTheWholeHistory) {
    const std::vector<Bytes> newer{snapshot_golden("unknown_container")};
    Doc doc(1);
    ASSERT_TRUE(doc.import(std::move(read_histories(newer, {}).value().batch)));
    type(doc, 0, "page");

    const std::vector<Bytes> blobs{encode_shallow_snapshot(doc, doc.frontiers()).value()};
    Doc again(8);
    EXPECT_FALSE(open_snapshot(again, blobs[0]).value());
    ASSERT_TRUE(again.import(std::move(read_histories(blobs, {}).value().batch)));
    EXPECT_EQ(again.changes_since({}).changes(), doc.changes_since({}).changes());
}

TEST(ShallowSnapshot, OfBranchesThatShareNothingIsTheWholeHistory) {
    Doc one(1);
    type(one, 0, "one");
    Doc two(2);
    type(two, 0, "two");
    ASSERT_TRUE(one.import(two.changes_since({})));
    const Bytes blob = encode_shallow_snapshot(one, one.frontiers()).value();
    EXPECT_EQ(inspect_blob(blob).value().kind, BlobKind::shallow_snapshot);
    Doc doc(9);
    EXPECT_FALSE(open_snapshot(doc, blob).value());
    const std::vector<Bytes> blobs{blob};
    ASSERT_TRUE(doc.import(std::move(read_histories(blobs, {}).value().batch)));
    EXPECT_EQ(page(doc), page(one));
    EXPECT_EQ(doc.history().start(), nullptr);
}

TEST(ShallowSnapshot, KeepsErasedNodesThatCanComeBack) {
    const ContainerId tree = ContainerId::root("tree", ContainerKind::tree);
    Doc doc(1);
    const crdt::OpId node = doc.tree(doc.open(tree)).create().value();
    const ContainerId meta = doc.tree(doc.open(tree)).meta(node).value();
    ASSERT_TRUE(doc.map(doc.open(meta)).set("name", "n"));
    ASSERT_TRUE(doc.tree(doc.open(tree)).erase(node));
    doc.commit();
    const Frontiers start = doc.frontiers();
    const Bytes blob = encode_shallow_snapshot(doc, start).value();
    // A peer with all of the history takes the deletion back.
    const Value before = doc.value(doc.open(tree));
    crdt::Change back{{2, 0}, start, 100, 0, "", {{tree, 0, crdt::TreeMove{node, {}, {0x80}}}}};
    ASSERT_TRUE(doc.import({back}));
    Doc shallow = opened(blob);
    EXPECT_EQ(shallow.value(shallow.open(tree)), before);
    ASSERT_TRUE(shallow.import({back}));
    EXPECT_EQ(shallow.value(shallow.open(tree)), doc.value(doc.open(tree)));
}

// Found with SEED=1054 of engine_shallow.test.mjs: Loro drops ops on children that the start lacks.
TEST(ShallowSnapshot, AnEmptyChildIsInTheStart) {
    Doc doc(1);
    const ContainerId child =
        doc.map(doc.open(kFields)).insert_container("k", ContainerKind::list).value();
    doc.commit();
    const Bytes blob = encode_state_only(doc, doc.frontiers()).value();
    const Snapshot snapshot = Snapshot::open(blob).value();
    Budget budget = snapshot.budget();
    EXPECT_TRUE(snapshot.stored_start_state(child, budget).value().has_value());
}

TEST(ShallowSnapshot, LeavesOutChildrenThatWereOverwritten) {
    Doc doc(1);
    const Handle fields = doc.open(kFields);
    const ContainerId child = doc.map(fields).insert_container("k", ContainerKind::text).value();
    ASSERT_TRUE(doc.text(doc.open(child)).insert({0}, "overwritten"));
    ASSERT_TRUE(doc.map(fields).set("k", 1));
    doc.commit();
    const Bytes blob = encode_state_only(doc, doc.frontiers(), Compression::none).value();
    EXPECT_EQ(as_text(blob).find("overwritten"), std::string_view::npos);
}

TEST(ShallowSnapshot, ACursorOnWhatWasTrimmedSaysSo) {
    Written written;
    Doc early = crdt::fork_at(written.doc, written.early, 8).value();
    const auto cursor = crdt::cursor_at(early, early.open(kPage), 2, crdt::Side::middle).value();
    const auto kept = crdt::cursor_at(early, early.open(kPage), 8, crdt::Side::middle).value();
    Doc doc = opened(written.shallow());
    EXPECT_EQ(reason(crdt::resolve(doc, cursor)), "shallow_snapshot");
    EXPECT_EQ(crdt::resolve(doc, kept).value().pos, 3U);
}

TEST(ShallowSnapshot, ALongHistoryComesWithTheStateAfterIt) {
    Written written;
    for (int i = 0; i < 300; ++i) type(written.doc, 0, "x");
    const Bytes blob = written.shallow();
    EXPECT_EQ(Snapshot::open(blob).value().state_version(), written.doc.frontiers());
    Doc doc = opened(blob);
    EXPECT_FALSE(doc.history().is_loaded());
    EXPECT_EQ(page(doc), page(written.doc));
    EXPECT_EQ(doc.history().start()->frontiers(), written.start);
    type(doc, 0, "y");
    EXPECT_FALSE(doc.history().is_loaded());
    ASSERT_TRUE(doc.checkout(written.start));
    EXPECT_EQ(page(doc), "page");
    doc.checkout_to_latest();
    EXPECT_EQ(page(doc), "y" + page(written.doc));
    crdt::check_invariants(doc);
}

TEST(ShallowSnapshot, LorosOpenAndGoOn) {
    for (const char* name : {"trimmed", "trimmed_with_state"}) {
        const Bytes blob = snapshot_golden(name);
        const Snapshot snapshot = Snapshot::open(blob).value();
        Doc doc = opened(blob);
        EXPECT_EQ(doc.version(), snapshot.end());
        EXPECT_EQ(doc.history().start()->frontiers(), snapshot.start()->heads);
        ASSERT_TRUE(doc.history().load());
        crdt::check_invariants(doc);
        type(doc, 0, "more");
        Doc again = opened(encode_snapshot(doc).value());
        EXPECT_TRUE(again.value() == doc.value());
    }
}

// Every byte of the states at the start, damaged under checksums that fit: an error that leaves the
// document empty, or a document that holds its promises.
TEST(ShallowSnapshot, DamageIsRefusedOrHarmless) {
    std::vector<Bytes> blobs{snapshot_golden("trimmed"), snapshot_golden("trimmed_with_state")};
    blobs.push_back(Written().shallow());
    for (const Bytes& blob : blobs) {
        for (std::size_t at = kEnvelopeSize; at < blob.size(); ++at) {
            for (const std::uint8_t flip : {std::uint8_t{0x01}, std::uint8_t{0x80}}) {
                Bytes damaged = blob;
                damaged.at(at) = static_cast<std::uint8_t>(damaged.at(at) ^ flip);
                reseal_snapshot(damaged);
                Doc doc(9);
                const Result<bool> done = open_snapshot(doc, damaged);
                if (!done || !*done) {
                    EXPECT_TRUE(crdt::is_blank(doc)) << at;
                    continue;
                }
                static_cast<void>(doc.value());
                static_cast<void>(doc.text(doc.open(kPage)).insert({0}, "x"));
                doc.commit({.want_diff = true});
                if (doc.history().load()) {
                    static_cast<void>(doc.checkout(doc.history().start() == nullptr
                                                       ? Frontiers()
                                                       : doc.history().start()->frontiers()));
                    static_cast<void>(doc.value());
                    static_cast<void>(encode_snapshot(doc));
                }
            }
        }
    }
}

}  // namespace
}  // namespace quire::codec
