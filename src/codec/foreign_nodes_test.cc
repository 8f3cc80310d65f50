// A tree may move or erase a node that no op of it made: the name may be that of any atom, and the map of
// the node is then another container's, or nobody's. A state tells such a node by the map that is written for it.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/open_snapshot.h"
#include "codec/shallow_snapshot.h"
#include "codec/updates.h"
#include "crdt/doc/history.h"
#include "crdt/doc/map.h"
#include "crdt/doc/tree.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Doc;
using crdt::OpId;

const ContainerId kTree = ContainerId::root("tree", ContainerKind::tree);
const OpId kNode{1, 0};

struct ForeignHistory {
    const char* name;
    std::vector<crdt::Op> ops;  // Atoms of peer 1.
};

// In each the tree takes as its node what op 0 of peer 1 made.
std::vector<ForeignHistory> foreign_histories() {
    const ContainerId other = ContainerId::root("other", ContainerKind::tree);
    const ContainerId text = ContainerId::root("text", ContainerKind::text);
    const ContainerId map = ContainerId::root("map", ContainerKind::map);
    const ContainerId list = ContainerId::root("list", ContainerKind::list);
    const ContainerId child = ContainerId::normal(kNode, ContainerKind::map);
    const crdt::TreeMove here{kNode, std::nullopt, {0x80}};
    return {
        {"a node of another tree that hangs in the air",
         {{other, 0, crdt::TreeCreate{kNode, OpId{7, 7}, {0x80}}}, {kTree, 1, here}}},
        {"a node of another tree",
         {{other, 0, crdt::TreeCreate{kNode, std::nullopt, {0x80}}}, {kTree, 1, here}}},
        {"a node of another tree that was moved there",
         {{other, 0, crdt::TreeCreate{kNode, std::nullopt, {0x80}}},
          {other, 1, crdt::TreeMove{kNode, std::nullopt, {0x81}}},
          {kTree, 2, here}}},
        {"a letter", {{text, 0, crdt::TextInsert{0, "a"}}, {kTree, 1, here}}},
        {"a letter of a text that was deleted but for another",
         {{text, 0, crdt::TextInsert{0, "ab"}},
          {text, 2, crdt::SequenceDelete{0, 1, kNode}},
          {kTree, 3, here}}},
        {"a node of another tree that hangs in the air, beside one that does not",
         {{other, 0, crdt::TreeCreate{kNode, OpId{7, 7}, {0x80}}},
          {other, 1, crdt::TreeCreate{{1, 1}, std::nullopt, {0x80}}},
          {kTree, 2, here}}},
        {"a letter that was deleted",
         {{text, 0, crdt::TextInsert{0, "a"}},
          {text, 1, crdt::SequenceDelete{0, 1, kNode}},
          {kTree, 2, here}}},
        {"a deletion",
         {{map, 0, crdt::MapErase{"key"}}, {map, 1, crdt::MapErase{"key"}}, {kTree, 2, here}}},
        {"a map that was overwritten",
         {{map, 0, crdt::MapSet{"key", ContainerKind::map}},
          {map, 1, crdt::MapSet{"key", Value(1)}},
          {kTree, 2, here}}},
        {"a map in a list",
         {{list, 0, crdt::ListInsert{0, {ContainerKind::map}}}, {kTree, 1, here}}},
        {"a map that was written to, in a list from which it was deleted",
         {{list, 0, crdt::ListInsert{0, {ContainerKind::map}}},
          {child, 1, crdt::MapSet{"key", Value(1)}},
          {list, 2, crdt::SequenceDelete{0, 1, kNode}},
          {kTree, 3, here}}},
        {"a list that was overwritten",
         {{map, 0, crdt::MapSet{"key", ContainerKind::list}},
          {map, 1, crdt::MapSet{"key", Value(1)}},
          {kTree, 2, here}}},
        {"an erased letter",
         {{text, 0, crdt::TextInsert{0, "a"}},
          {text, 1, crdt::SequenceDelete{0, 1, kNode}},
          {kTree, 2, here},
          {kTree, 3, crdt::TreeErase{kNode}}}},
        {"the parent of a node that was made",
         {{text, 0, crdt::TextInsert{0, "a"}},
          {text, 1, crdt::SequenceDelete{0, 1, kNode}},
          {kTree, 2, crdt::TreeCreate{{1, 2}, kNode, {0x80}}},
          {kTree, 3, here}}},
        {"an atom of nobody",
         {{text, 0, crdt::TextInsert{0, "a"}},
          {kTree, 1, crdt::TreeMove{{7, 0}, std::nullopt, {0x80}}}}},
        {"a later atom",
         {{kTree, 0, crdt::TreeMove{{1, 1}, std::nullopt, {0x80}}},
          {kTree, 1, crdt::TreeMove{{1, 2}, OpId{1, 1}, {0x80}}},
          {text, 2, crdt::TextInsert{0, "abc"}},
          {text, 5, crdt::SequenceDelete{0, 3, {1, 2}}}}},
        {"a move",
         {{kTree, 0, crdt::TreeCreate{kNode, std::nullopt, {0x80}}},
          {kTree, 1, crdt::TreeMove{kNode, std::nullopt, {0x81}}},
          {kTree, 2, crdt::TreeMove{kNode, std::nullopt, {0x82}}},
          {kTree, 3, crdt::TreeMove{{1, 1}, std::nullopt, {0x83}}}}},
    };
}

std::string try_edit(Doc& doc, OpId node) {
    const auto set = doc.map(doc.open(ContainerId::normal(node, ContainerKind::map))).set("new", 1);
    return set ? std::string() : set.error().reason();
}

// The containers that differ from an empty document.
std::vector<ContainerId> differing(Doc& doc) {
    std::vector<ContainerId> ids;
    const crdt::Diff diff = doc.history().diff({}, doc.frontiers()).value();
    for (const crdt::ContainerDiff& each : diff) ids.push_back(each.container);
    return ids;
}

// Compares them now, and after each tried to write to the maps of the nodes.
void expect_same(Doc& doc, Doc& whole) {
    const std::vector<OpId> nodes{{1, 0}, {1, 1}, {1, 2}, {7, 0}};
    for (const OpId node : nodes) {
        const ContainerId map = ContainerId::normal(node, ContainerKind::map);
        EXPECT_EQ(doc.is_alive(doc.open(map)), whole.is_alive(whole.open(map))) << node.counter;
        const auto meta = doc.tree(doc.open(kTree)).meta(node);
        EXPECT_EQ(meta.has_value(), whole.tree(whole.open(kTree)).meta(node).has_value());
    }
    const crdt::VersionVector before = whole.version();
    for (const OpId node : nodes)
        EXPECT_EQ(try_edit(doc, node), try_edit(whole, node)) << node.counter;
    doc.commit();
    whole.commit();
    EXPECT_EQ(doc.value(), whole.value());
    Doc third(30);
    ASSERT_TRUE(third.import(whole.changes_since({})));
    EXPECT_EQ(third.value(), doc.value());
    EXPECT_EQ(doc.changes_since(before).changes(), whole.changes_since(before).changes());
    EXPECT_EQ(differing(doc), differing(whole));
}

Doc from(const Bytes& blob) {
    Doc doc(20);
    if (open_snapshot(doc, blob).value()) return doc;
    const std::vector<Bytes> blobs{blob};
    EXPECT_TRUE(doc.import(std::move(read_histories(blobs, {}).value().batch)));
    return doc;
}

TEST(ForeignNodes, ASnapshotOpensAsItsHistoryShows) {
    for (const ForeignHistory& foreign : foreign_histories()) {
        SCOPED_TRACE(foreign.name);
        Doc made(9);
        ASSERT_TRUE(made.import({{{1, 0}, {}, 0, 0, "", foreign.ops}}));
        const Bytes updates = encode_updates(made.changes_since({}));
        const std::vector<Bytes> blobs{encode_snapshot(made).value(),
                                       encode_state_only(made, made.frontiers()).value(),
                                       encode_shallow_snapshot(made, made.frontiers()).value()};
        for (const Bytes& blob : blobs) {
            Doc whole(20);
            ASSERT_TRUE(whole.import(decode_updates(updates).value()));
            Doc doc = from(blob);
            expect_same(doc, whole);
        }
    }
}

}  // namespace
}  // namespace quire::codec
