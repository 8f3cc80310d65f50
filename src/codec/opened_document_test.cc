#include "codec/opened_document.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/draft.h"
#include "codec/snapshot_for_test.h"
#include "codec/snapshot_reseal_for_test.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;

const ContainerId kText = ContainerId::root("text", ContainerKind::text);
const ContainerId kList = ContainerId::root("list", ContainerKind::list);
const ContainerId kMap = ContainerId::root("map", ContainerKind::map);

crdt::Doc document(const std::string& name) {
    crdt::Doc doc(1);
    EXPECT_TRUE(doc.import(decode_history(snapshot_golden(name)).value()).has_value()) << name;
    return doc;
}

// Roots that hold nothing are shown here, because the snapshot names them, and not by a replay.
Map without_empty_roots(const Value& value) {
    Map kept;
    for (const Map::Entry& root : value.as_map()) {
        const Value& item = root.value;
        const bool empty = (item.is_string() && item.as_string().empty()) ||
                           (item.is_list() && item.as_list().empty()) ||
                           (item.is_map() && item.as_map().empty()) || item == Value(0.0);
        if (!empty) kept.append(root.key, item);
    }
    return kept;
}

TEST(OpenedDocument, ShowsWhatAReplayOfItsHistoryShows) {
    for (const std::string name : {"empty", "map", "list", "text", "marks", "several_peers", "tree",
                                   "emptied", "movable_list", "counter", "nested", "mergeable",
                                   "big_values", "many_containers", "many_changes"}) {
        const auto opened = OpenedDocument::open(snapshot_golden(name));
        ASSERT_TRUE(opened.has_value()) << name;
        const crdt::Doc doc = document(name);

        EXPECT_EQ(without_empty_roots(opened->value().value()), without_empty_roots(doc.value()))
            << name;
        EXPECT_EQ(opened->version(), doc.oplog_version()) << name;
        EXPECT_EQ(opened->frontiers(), doc.oplog_frontiers()) << name;
        const crdt::Doc loaded = opened->load(9).value();
        EXPECT_EQ(loaded.value(), doc.value()) << name;
    }
}

TEST(OpenedDocument, IsForWholeSnapshotsOnly) {
    EXPECT_EQ(OpenedDocument::open(snapshot_golden("trimmed")).error().reason(),
              "shallow_snapshot");
    EXPECT_EQ(OpenedDocument::open({1, 2, 3}).error().code(), Errc::corrupt);
}

TEST(OpenedDocument, AHistoryThatIsDamagedIsFoundWhenItIsAskedFor) {
    Bytes blob = encode_snapshot(document("text"), Compression::none).value();
    // Deleted since, so it stands in the history alone.
    const std::string_view deleted = "Hello";
    const auto at = std::search(blob.begin(), blob.end(), deleted.begin(), deleted.end());
    ASSERT_NE(at, blob.end());
    *at = 0xFF;  // No UTF-8 any more.
    reseal_snapshot(blob);

    const auto opened = OpenedDocument::open(blob);

    ASSERT_TRUE(opened.has_value());
    EXPECT_TRUE(opened->value().has_value());
    EXPECT_EQ(opened->load(9).error().code(), Errc::corrupt);
}

// The same edits to a whole document and to one that was opened without its history: what they send
// is the same.
class DraftOf : public testing::TestWithParam<const char*> {};

TEST_P(DraftOf, SendsWhatAWholeDocumentSends) {
    const auto opened = OpenedDocument::open(snapshot_golden(GetParam()));
    ASSERT_TRUE(opened.has_value());
    crdt::Doc doc = opened->load(500).value();
    Draft draft(*opened, 500);
    const auto edit = [](auto& target, const auto& text, const auto& list, const auto& map) {
        const std::size_t size = 2;
        EXPECT_TRUE(target.text_insert(text, {0}, "é new").has_value());
        EXPECT_TRUE(target.text_erase(text, {1}, {3}).has_value());
        EXPECT_TRUE(target.text_insert(text, {1}, "x").has_value());
        EXPECT_TRUE(target.list_insert(list, 0, Value(1)).has_value());
        EXPECT_TRUE(target.list_insert(list, 1, Value("two")).has_value());
        EXPECT_TRUE(target.list_erase(list, 0, size).has_value());
        EXPECT_TRUE(target.list_insert(list, 0, Value("three")).has_value());
        EXPECT_TRUE(target.map_set(map, "k", Value(7)).has_value());
        EXPECT_TRUE(target.map_set(map, "k", Value(7)).has_value());
        EXPECT_TRUE(target.map_erase(map, "gone").has_value());
    };
    for (int round = 0; round < 2; ++round) {
        edit(draft, kText, kList, kMap);
        edit(doc, doc.open(kText), doc.open(kList), doc.open(kMap));
        const auto change = draft.commit({.message = "m", .timestamp = round});
        const crdt::IdSpan span = doc.commit({.message = "m", .timestamp = round}).span;

        ASSERT_TRUE(change.has_value() && change->has_value());
        const crdt::Change expected = doc.changes_in(std::span(&span, 1)).at(0);
        EXPECT_EQ((*change)->id, expected.id);
        EXPECT_EQ((*change)->deps, expected.deps);
        EXPECT_EQ((*change)->lamport, expected.lamport);
        EXPECT_EQ((*change)->timestamp, expected.timestamp);
        EXPECT_TRUE(crdt::same_atoms((*change)->ops, expected.ops));
        EXPECT_EQ(*draft.text(kText).value(), doc.text(doc.open(kText)));
    }
    // And a document that loads what was opened goes on with what was drafted.
    crdt::Doc loaded = opened->load(501).value();
    ASSERT_TRUE(loaded.import(draft.changes()).has_value());
    EXPECT_EQ(loaded.value(), doc.value());
}

INSTANTIATE_TEST_SUITE_P(Golden, DraftOf,
                         testing::Values("empty", "text", "list", "map", "several_peers",
                                         "many_changes"));

TEST(Draft, WhatItCannotDoWithoutHistoryItSays) {
    const auto marked = OpenedDocument::open(snapshot_golden("marks"));
    Draft draft(*marked, 500);
    EXPECT_EQ(draft.text_insert(kText, {0}, "x").error().reason(), "needs_history");
    EXPECT_EQ(
        draft.map_set(ContainerId::normal({7, 0}, ContainerKind::map), "k", 1).error().reason(),
        "needs_history");
    EXPECT_EQ(draft.text_insert(kMap, {0}, "x").error().reason(), "wrong_kind");
    EXPECT_EQ(draft.map_set(ContainerId::root("", ContainerKind::map), "k", 1).error().reason(),
              "invalid_name");
    EXPECT_FALSE(draft.commit().value().has_value());
}

TEST(Draft, BeyondTheEndNothingIsChanged) {
    const auto opened = OpenedDocument::open(snapshot_golden("text"));
    Draft draft(*opened, 500);
    const std::size_t size = draft.text(kText).value()->code_points().n;

    EXPECT_EQ(draft.text_insert(kText, {size + 1}, "x").error().reason(), "out_of_bound");
    EXPECT_EQ(draft.text_erase(kText, {size}, {1}).error().reason(), "out_of_bound");
    EXPECT_EQ(draft.text_insert(kText, {0}, "\xFF").error().reason(), "invalid_utf8");
    EXPECT_EQ(draft.list_erase(kList, 0, 1).error().reason(), "out_of_bound");
    EXPECT_FALSE(draft.commit().value().has_value());
}

}  // namespace
}  // namespace quire::codec
