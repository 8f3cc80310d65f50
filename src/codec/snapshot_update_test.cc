#include "codec/snapshot_update.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/open_snapshot.h"
#include "codec/snapshot.h"
#include "codec/snapshot_for_test.h"
#include "codec/snapshot_writer.h"
#include "crdt/doc/history.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Doc;

const ContainerId kNotes = ContainerId::root("notes", ContainerKind::text);

// Many maps and a text of some blocks of changes.
Bytes large_document() {
    Doc doc(1);
    for (int i = 0; i < 200; ++i) {
        const auto map = doc.open(ContainerId::root(cat("map ", i), ContainerKind::map));
        for (int key = 0; key < 10; ++key)
            EXPECT_TRUE(doc.map(map).set(cat("key ", key), cat("value ", i * key)));
        EXPECT_TRUE(doc.text(doc.open(kNotes)).insert({0}, cat("line ", i, " of a long text\n")));
        doc.commit({.message = cat("change ", i)});
    }
    return encode_snapshot(doc).value();
}

Doc reopened(const Bytes& blob, crdt::PeerId peer) {
    Doc doc(peer);
    EXPECT_TRUE(open_snapshot(doc, blob).value());
    return doc;
}

std::size_t block_count(const Bytes& blob) {
    std::size_t blocks = 0;
    const Snapshot snapshot = Snapshot::open(blob).value();
    Budget budget = snapshot.budget();
    EXPECT_TRUE(snapshot.each_block(budget, [&](crdt::OpId, std::span<const std::uint8_t>) {
        ++blocks;
        return Result<void>();
    }));
    return blocks;
}

TEST(SnapshotUpdate, ADocumentThatWasOnlyReadIsSavedAsItsBytes) {
    for (const std::string name : kSnapshotNames) {
        const Bytes blob = snapshot_golden(name);
        Doc doc(9);
        if (!open_snapshot(doc, blob).value() || doc.history().is_loaded()) continue;
        static_cast<void>(doc.frontiers());
        EXPECT_EQ(encode_snapshot(doc).value(), blob) << name;
        EXPECT_FALSE(doc.history().is_loaded()) << name;
    }
}

TEST(SnapshotUpdate, WhatWasNotEditedStaysAsItIsEncoded) {
    const Bytes blob = large_document();
    Doc doc = reopened(blob, 2);
    ASSERT_TRUE(doc.text(doc.open(kNotes)).insert({0}, "edit"));
    doc.commit();

    const Bytes saved = update_snapshot(doc, Compression::lz4)->value();

    EXPECT_FALSE(doc.history().is_loaded());
    const Snapshot before = Snapshot::open(blob).value();
    const Snapshot after = Snapshot::open(saved).value();
    const auto kept = [](const SsTable& from, const SsTable& in) {
        std::size_t found = 0;
        for (std::size_t i = 0; i < from.block_count(); ++i) {
            const auto bytes = from.encoded_block(i).bytes;
            for (std::size_t j = 0; j < in.block_count(); ++j) {
                const auto other = in.encoded_block(j).bytes;
                found += std::equal(bytes.begin(), bytes.end(), other.begin(), other.end()) ? 1 : 0;
            }
        }
        return found;
    };
    EXPECT_GE(kept(before.history_table(), after.history_table()) + 2,
              before.history_table().block_count());
    EXPECT_GE(kept(before.state_table(), after.state_table()) + 2,
              before.state_table().block_count());
    Doc whole(3);
    ASSERT_TRUE(whole.import(decode_history(saved).value()));
    EXPECT_EQ(whole.value(), doc.value());
}

// Every time a letter, by one who has written before.
TEST(SnapshotUpdate, ManySavesLeaveNoMoreBlocksThanOne) {
    const Bytes blob = large_document();
    Bytes saved = blob;
    for (int i = 0; i < 60; ++i) {
        Doc doc = reopened(saved, 1 + static_cast<crdt::PeerId>(i % 2));
        ASSERT_TRUE(doc.text(doc.open(kNotes)).insert({0}, "x"));
        doc.commit({.timestamp = i});
        saved = update_snapshot(doc, Compression::lz4)->value();
    }
    EXPECT_LE(block_count(saved), block_count(blob) + 3);
    const Snapshot before = Snapshot::open(blob).value();
    const Snapshot after = Snapshot::open(saved).value();
    EXPECT_LE(after.history_table().block_count(), before.history_table().block_count() + 3);
    EXPECT_TRUE(after.verify());
    EXPECT_EQ(reopened(saved, 3).text(reopened(saved, 3).open(kNotes)).rope().str().substr(0, 60),
              std::string(60, 'x'));
}

TEST(SnapshotUpdate, EveryFlippedByteOfASaveIsRefused) {
    Doc doc = reopened(snapshot_golden("nested"), 77);
    ASSERT_TRUE(doc.text(doc.open(kNotes)).insert({0}, "edit"));
    doc.commit();
    const Bytes saved = update_snapshot(doc, Compression::lz4)->value();
    for (std::size_t at = 0; at < saved.size(); ++at) {
        if (at >= 4 && at < 16) continue;  // Nothing stands there.
        Bytes damaged = saved;
        damaged[at] ^= 0x10;
        Doc reader(3);
        const auto read = open_snapshot(reader, damaged);
        EXPECT_TRUE(!read || !*read) << at;
    }
}

// The changes depend on one that the history does not hold.
TEST(SnapshotUpdate, AHistoryThatLacksSomethingIsNotWrittenOn) {
    Doc one(1);
    ASSERT_TRUE(one.text(one.open(kNotes)).insert({0}, "one"));
    one.commit();
    Doc two(2);
    ASSERT_TRUE(two.import(one.changes_since({})));
    ASSERT_TRUE(two.text(two.open(kNotes)).insert({0}, "two"));
    two.commit();
    const Bytes blob = encode_snapshot(two).value();
    const Snapshot snapshot = Snapshot::open(blob).value();
    SnapshotWriter writer;
    std::vector<crdt::Change> changes = snapshot.changes().value();
    changes.back().deps = {{1, 7}};
    writer.add_changes(changes);
    Budget budget = snapshot.budget();
    ASSERT_TRUE(writer.add_state(*snapshot.state(kNotes, budget).value()));
    Doc doc = reopened(std::move(writer).finish(snapshot.end(), snapshot.heads()).value(), 3);
    ASSERT_TRUE(doc.text(doc.open(kNotes)).insert({0}, "x"));
    doc.commit();

    EXPECT_EQ(encode_snapshot(doc).error().code(), Errc::corrupt);
}

}  // namespace
}  // namespace quire::codec
