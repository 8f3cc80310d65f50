// Snapshots that lie. None may crash the reader, nor make it take more memory than it promises.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "codec/snapshot_for_test.h"
#include "codec/snapshot_reseal_for_test.h"
#include "codec/snapshot_rewrite_for_test.h"
#include "tests/peak_memory/peak_memory.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;

// The message of a refusal; "" if the blob is accepted. Checks the promise on memory.
std::string refusal(const Bytes& blob) {
    const tests::PeakMemory memory;
    const auto snapshot = Snapshot::open(blob);
    const auto verified = snapshot ? snapshot->verify() : Result<void>(Failure(snapshot.error()));
    EXPECT_LE(memory.bytes(), blob.size() * kAllocationFactor + kAllocationBase);
    if (verified) return "";
    EXPECT_TRUE(verified.error().code() == Errc::corrupt ||
                verified.error().code() == Errc::unsupported);
    return verified.error().message();
}

class DamagedSnapshot : public testing::TestWithParam<const char*> {};

TEST_P(DamagedSnapshot, EveryTruncationIsRefused) {
    const Bytes blob = snapshot_golden(GetParam());
    for (std::size_t size = 0; size < blob.size(); ++size) {
        Bytes cut(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_NE(refusal(cut), "") << size;
        reseal_snapshot(cut);
        EXPECT_NE(refusal(cut), "") << size;
    }
}

TEST_P(DamagedSnapshot, EveryChangedByteIsRefusedOrMeansSomethingThatReadsBack) {
    const Bytes blob = snapshot_golden(GetParam());
    const std::size_t step = kRoundsShare * (blob.size() < 1000 ? 1 : blob.size() / 300);
    int accepted = 0;
    for (std::size_t at = kEnvelopeSize; at < blob.size(); at += step) {
        for (unsigned pattern = 0; pattern < 12; ++pattern) {
            Bytes changed = blob;
            const auto flip = static_cast<std::uint8_t>(1U << (pattern % 8));
            const std::uint8_t replacements[] = {0x00, 0x7F, 0x80, 0xFF};
            changed[at] = pattern < 8 ? static_cast<std::uint8_t>(blob[at] ^ flip)
                                      : replacements[pattern - 8];
            reseal_snapshot(changed);
            if (!refusal(changed).empty()) continue;
            ++accepted;
            const auto written = rewritten(changed, Compression::none);
            // A name may have become too long for a table's key, and that alone.
            if (!written) {
                EXPECT_EQ(written.error().code(), Errc::out_of_range) << at << " " << pattern;
                continue;
            }
            ASSERT_EQ(refusal(*written), "") << at << " " << pattern;
            EXPECT_EQ(rewritten(*written, Compression::none).value(), *written)
                << at << " " << pattern;
        }
    }
    // The damage reaches what no checksum guards any more.
    EXPECT_GT(accepted, 0);
}

INSTANTIATE_TEST_SUITE_P(Loro, DamagedSnapshot, testing::ValuesIn(kSnapshotNames),
                         [](const auto& golden_name) { return cat("of_", golden_name.param); });

Bytes with_text(std::size_t size) {
    SnapshotWriter writer;
    TextState text;
    text.text.assign(size, 'a');
    text.spans = {{{{1, 0}, 0}, static_cast<std::int32_t>(size)}};
    const bool added = writer
                           .add_state({ContainerId::root("t", ContainerKind::text), 1, std::nullopt,
                                       std::move(text)})
                           .has_value();
    EXPECT_TRUE(added);
    return std::move(writer).finish({}, {}).value();
}

TEST(HostileSnapshot, ATextThatCompressesWellIsReadAsFarAsMemoryGoes) {
    EXPECT_EQ(refusal(with_text(10'000'000)), "");
    EXPECT_NE(refusal(with_text(100'000'000)).find("too large for its input"), std::string::npos);
    EXPECT_NE(refusal(with_text(60'000'000)).find("too large for its input"), std::string::npos);
}

TEST(HostileSnapshot, AListOfNothingsThatCompressesWell) {
    ListState list;
    list.values.assign(2'000'000, StateSlot());
    list.ids = {{{{1, 0}, 0}, 2'000'000}};
    SnapshotWriter writer;
    ASSERT_TRUE(writer
                    .add_state({ContainerId::root("l", ContainerKind::list), 1, std::nullopt,
                                std::move(list)})
                    .has_value());

    EXPECT_NE(refusal(std::move(writer).finish({}, {}).value()).find("too large for its input"),
              std::string::npos);
}

TEST(HostileSnapshot, APositionOfAMegabyteInEachOfThousandsOfNodes) {
    TreeState tree;
    for (crdt::Counter i = 0; i < 2000; ++i) {
        tree.nodes.push_back({{1, i},
                              std::nullopt,
                              {{1, i}, static_cast<crdt::Lamport>(i)},
                              Bytes(i < 2 ? 1 << 20 : 0, 7)});
    }
    ByteWriter out;
    write_tree_state(out, tree);
    // All of them at the second position, the long one: their column is the last but one.
    Bytes bytes = std::move(out).take();
    const std::size_t count = 2000;
    const auto column =
        std::search_n(bytes.begin(), bytes.end(), static_cast<std::ptrdiff_t>(count - 2), 0);
    ASSERT_NE(column, bytes.end());
    std::fill_n(column, count - 2, std::uint8_t{1});
    SnapshotWriter writer;
    ByteWriter stored;
    for (const std::uint8_t byte : {std::uint8_t{3}, std::uint8_t{1}, std::uint8_t{0}})
        stored.byte(byte);
    stored.append(bytes);
    ASSERT_TRUE(writer.add_stored_state(ContainerId::root("t", ContainerKind::tree), stored.bytes())
                    .has_value());

    EXPECT_NE(
        refusal(std::move(writer).finish({}, {}).value()).find("positions of nodes (too large"),
        std::string::npos);
}

TEST(HostileSnapshot, AValueNestedWithoutEnd) {
    ByteWriter stored;
    for (const std::uint8_t byte :
         {std::uint8_t{1}, std::uint8_t{1}, std::uint8_t{0}, std::uint8_t{1}})
        stored.byte(byte);
    for (int i = 0; i < 100'000; ++i) {
        stored.byte(5);
        stored.byte(1);
    }
    SnapshotWriter writer;
    ASSERT_TRUE(writer.add_stored_state(ContainerId::root("l", ContainerKind::list), stored.bytes())
                    .has_value());

    EXPECT_NE(refusal(std::move(writer).finish({}, {}).value()).find("nested too deep"),
              std::string::npos);
}

}  // namespace
}  // namespace quire::codec
