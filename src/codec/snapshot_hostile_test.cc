// Snapshots that lie. None may crash the reader, nor make it take more memory than it promises.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "codec/container_ids.h"
#include "codec/envelope.h"
#include "codec/small.h"
#include "codec/snapshot_for_test.h"
#include "codec/snapshot_keys.h"
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
    Budget budget = snapshot ? snapshot->budget() : Budget(blob.size());
    budget.draw();
    EXPECT_LE(memory.bytes(), budget.may_hold());
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

// A snapshot of one container whose tables LZ4 may make as small as it can.
Bytes packed(const ContainerState& container) {
    const auto table = [](std::vector<std::pair<Bytes, Bytes>> entries) {
        std::sort(entries.begin(), entries.end());
        SsTableWriter writer(Compression::lz4);
        for (const auto& [key, value] : entries) writer.add(key, value);
        return std::move(writer).finish().value();
    };
    const auto key = [](std::string_view name) { return Bytes(name.begin(), name.end()); };
    ByteWriter state;
    write_container_state(state, container);
    ByteWriter out;
    begin_envelope(out);
    for (const Bytes& section :
         {table({{key(kEndKey), encode_version(crdt::VersionVector())},
                 {key(kHeadsKey), encode_frontiers(crdt::Frontiers())}}),
          table({{container_key(container.id), std::move(state).take()}}), Bytes()}) {
        out.u32_le(static_cast<std::uint32_t>(section.size()));
        out.append(section);
    }
    seal_envelope(out, Mode::snapshot);
    return std::move(out).take();
}

// A snapshot of one container as Quire writes it.
Bytes written(const ContainerState& container) {
    SnapshotWriter writer;
    EXPECT_TRUE(writer.add_state(container));
    return std::move(writer).finish({}, {}).value();
}

TEST(HostileSnapshot, ATextThatCompressesWellIsRead) {
    for (const std::int32_t size : {10'000'000, 100'000'000}) {
        TextState text;
        text.text.assign(static_cast<std::size_t>(size), 'a');
        text.spans = {{{{1, 0}, 0}, size}};
        const ContainerState container{ContainerId::root("t", ContainerKind::text), 1, std::nullopt,
                                       std::move(text)};
        EXPECT_EQ(refusal(packed(container)), "");
        EXPECT_EQ(refusal(written(container)), "");
    }
}

ContainerState nothings(std::size_t size) {
    ListState list;
    list.values.assign(size, StateSlot());
    list.ids = {{{{1, 0}, 0}, static_cast<crdt::Counter>(size)}};
    return {ContainerId::root("l", ContainerKind::list), 1, std::nullopt, std::move(list)};
}

TEST(HostileSnapshot, AListOfNothingsThatCompressesWellIsReadAsFarAsMemoryGoes) {
    EXPECT_EQ(refusal(packed(nothings(2'000'000))), "");
    const ContainerState many = nothings(8'000'000);
    EXPECT_NE(refusal(packed(many)).find("too large for its input"), std::string::npos);
    EXPECT_EQ(refusal(written(many)), "");
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
