// Documents of many equal members. Their bytes are very few for what they hold, and still they have to be read by
// every way that they were written.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/open_snapshot.h"
#include "codec/shallow_snapshot.h"
#include "codec/snapshot.h"
#include "codec/updates.h"
#include "crdt/doc/history.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "tests/peak_memory/peak_memory.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Doc;

std::size_t allowed(const Bytes& blob) {
    const auto snapshot = Snapshot::open(blob);
    if (!snapshot) return Budget::for_content(blob.size()).may_hold();
    Budget budget = snapshot->budget();
    budget.draw();
    return budget.may_hold();
}

// Opens a snapshot at its state and, if `whole`, reads its history too.
void expect_opens(const Doc& doc, const Bytes& blob, bool whole) {
    {
        const tests::PeakMemory memory;
        Doc again(2);
        const auto opened = open_snapshot(again, blob);
        ASSERT_TRUE(opened) << opened.error().message();
        ASSERT_TRUE(*opened);
        EXPECT_LE(memory.bytes(), allowed(blob));
        EXPECT_TRUE(again.value() == doc.value());
        if (whole) {
            const auto loaded = again.history().load();
            ASSERT_TRUE(loaded) << loaded.error().message();
        }
    }
    const tests::PeakMemory memory;
    auto history = decode_history(blob);
    ASSERT_TRUE(history) << history.error().message();
    EXPECT_LE(memory.bytes(), allowed(blob));
    if (!whole) return;
    Doc again(2);
    ASSERT_TRUE(again.import(std::move(*history)));
    EXPECT_TRUE(again.value() == doc.value());
}

void expect_read_by_every_way(Doc& doc) {
    doc.commit();
    {
        SCOPED_TRACE("snapshot");
        expect_opens(doc, encode_snapshot(doc).value(), true);
    }
    {
        SCOPED_TRACE("state only");
        expect_opens(doc, encode_state_only(doc, doc.frontiers()).value(), false);
    }
    {
        SCOPED_TRACE("shallow snapshot");
        const crdt::OpId last = doc.frontiers().front();
        expect_opens(doc, encode_shallow_snapshot(doc, {{last.peer, last.counter / 2}}).value(),
                     false);
    }
    const Bytes blob = encode_updates(doc.changes_since({}));
    auto updates = decode_updates(blob);
    ASSERT_TRUE(updates) << updates.error().message();
    Doc again(2);
    ASSERT_TRUE(again.import(std::move(*updates)));
    EXPECT_TRUE(again.value() == doc.value());
}

// A sanitizer looks at each byte of it all, and fewer show it as much.
constexpr std::size_t kMany = 300'000 / kRoundsShare;
constexpr std::size_t kMillion = 1'000'000 / kRoundsShare;
// Each node has a map of its own, so a tree takes ten times as long.
constexpr std::size_t kManyNodes = kMany / 10;

crdt::Handle root(Doc& doc, ContainerKind kind) {
    return doc.open(ContainerId::root("root", kind));
}

TEST(EqualMembers, OfAListAreReadByEveryWay) {
    Doc doc(1);
    auto list = doc.list(root(doc, ContainerKind::list));
    for (std::size_t i = 0; i < kMany; ++i) ASSERT_TRUE(list.insert(i, nullptr));
    expect_read_by_every_way(doc);
}

TEST(EqualMembers, OfAMovableListAreReadByEveryWay) {
    Doc doc(1);
    auto list = doc.movable_list(root(doc, ContainerKind::movable_list));
    for (std::size_t i = 0; i < kMany; ++i) ASSERT_TRUE(list.insert(i, nullptr));
    expect_read_by_every_way(doc);
}

TEST(EqualMembers, AMillionOfAMovableListAreReadByEveryWay) {
    Doc doc(1);
    auto list = doc.movable_list(root(doc, ContainerKind::movable_list));
    for (std::size_t i = 0; i < kMillion; ++i) ASSERT_TRUE(list.insert(i, nullptr));
    expect_read_by_every_way(doc);
}

// Each is an op of its own, and each is a slot of its own in the list.
TEST(EqualMembers, OfAMovableListInOpsOfTheirOwnAreReadByEveryWay) {
    Doc doc(1);
    auto list = doc.movable_list(root(doc, ContainerKind::movable_list));
    for (std::size_t i = 0; i < kMany; ++i) ASSERT_TRUE(list.insert(0, nullptr));
    for (std::size_t i = 0; i < kMany; ++i) ASSERT_TRUE(list.set(i, true));
    expect_read_by_every_way(doc);
}

TEST(EqualMembers, OfAMapAreReadByEveryWay) {
    Doc doc(1);
    auto map = doc.map(root(doc, ContainerKind::map));
    for (std::size_t i = 0; i < kMany; ++i) ASSERT_TRUE(map.set(std::to_string(i), nullptr));
    expect_read_by_every_way(doc);
}

TEST(EqualMembers, AMillionWritesOfOneKeyAreReadByEveryWay) {
    Doc doc(1);
    auto map = doc.map(root(doc, ContainerKind::map));
    for (std::size_t i = 0; i < kMillion; ++i) {
        ASSERT_TRUE(map.set("key", i % 2 == 0 ? Value() : Value(true)));
    }
    expect_read_by_every_way(doc);
}

TEST(EqualMembers, OfATextAreReadByEveryWay) {
    Doc doc(1);
    auto text = doc.text(root(doc, ContainerKind::text));
    ASSERT_TRUE(text.insert({0}, std::string(40 * kMany, 'a')));
    for (std::size_t i = 0; i < kMany; ++i) ASSERT_TRUE(text.insert({0}, "a"));
    expect_read_by_every_way(doc);
}

TEST(EqualMembers, OfATreeAreReadByEveryWay) {
    Doc doc(1);
    auto tree = doc.tree(root(doc, ContainerKind::tree));
    std::vector<crdt::OpId> nodes;
    for (std::size_t i = 0; i < kManyNodes; ++i) {
        const auto parent = i == 0 ? std::nullopt : std::optional(nodes[(i - 1) / 64]);
        nodes.push_back(tree.create(parent).value());
    }
    expect_read_by_every_way(doc);
}

}  // namespace
}  // namespace quire::codec
