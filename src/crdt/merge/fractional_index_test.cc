#include "crdt/merge/fractional_index.h"

#include <random>

#include <gtest/gtest.h>

namespace quire::crdt {
namespace {

std::optional<Bytes> between(std::optional<Bytes> lower, std::optional<Bytes> upper) {
    const auto view = [](const std::optional<Bytes>& bytes) {
        return bytes ? std::optional<PositionView>(*bytes) : std::nullopt;
    };
    return position_between(view(lower), view(upper));
}

const std::optional<Bytes> kOpen;
const Bytes kFirst{0x80};

// The positions that npm's loro-crdt 1.17.1 generated between the same neighbours.
TEST(FractionalIndex, PositionsAreThoseThatLoroMakes) {
    EXPECT_EQ(between(kOpen, kOpen), kFirst);
    EXPECT_EQ(between(kFirst, kOpen), (Bytes{0x81, 0x80}));
    EXPECT_EQ(between(kOpen, kFirst), (Bytes{0x7F, 0x80}));
    EXPECT_EQ(between(kFirst, Bytes{0x81, 0x80}), (Bytes{0x81, 0x7F, 0x80}));
    EXPECT_EQ(between(Bytes{0x81, 0x7F, 0x80}, Bytes{0x81, 0x80}), (Bytes{0x81, 0x7F, 0x81, 0x80}));
    EXPECT_EQ(between(Bytes{0x82, 0x80}, kOpen), (Bytes{0x83, 0x80}));
    EXPECT_EQ(between(Bytes{0xFF, 0x80}, kOpen), (Bytes{0xFF, 0x81, 0x80}));
    EXPECT_EQ(between(Bytes{0x80, 0x80}, Bytes{0x90, 0x80}), (Bytes{0x88, 0x80}));
    EXPECT_EQ(between(Bytes{0x00, 0x80}, Bytes{0x00, 0x81, 0x80}), (Bytes{0x00, 0x81, 0x7F, 0x80}));
}

TEST(FractionalIndex, SeveralTakeTheMiddleFirst) {
    const Bytes upper{0x81, 0x80};
    EXPECT_EQ(
        positions_between(PositionView(kFirst), PositionView(upper), 3),
        (std::vector<Bytes>{{0x81, 0x7E, 0x80}, {0x81, 0x7F, 0x80}, {0x81, 0x7F, 0x81, 0x80}}));
    EXPECT_EQ(positions_between(PositionView(kFirst), std::nullopt, 3),
              (std::vector<Bytes>{{0x81, 0x7F, 0x80}, {0x81, 0x80}, {0x82, 0x80}}));
}

TEST(FractionalIndex, NoPositionLiesBeforeTheEmptyOneOrRightBehindAnother) {
    EXPECT_EQ(between(kOpen, Bytes{}), std::nullopt);
    EXPECT_EQ(between(Bytes{0x80}, Bytes{0x80, 0x00}), std::nullopt);
    EXPECT_EQ(positions_between(std::nullopt, PositionView(Bytes{}), 1), std::nullopt);
    EXPECT_NE(between(Bytes{}, kOpen), std::nullopt);
}

// Others may write any bytes.
TEST(FractionalIndex, APositionLiesBetweenAnyNeighbours) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    static constexpr std::uint8_t kBytes[] = {0x00, 0x01, 0x7F, 0x80, 0x81, 0xFE, 0xFF};
    const auto some = [&] {
        Bytes bytes;
        for (std::size_t n = random() % 4; n > 0; --n) bytes.push_back(kBytes[random() % 7]);
        return bytes;
    };
    for (int i = 0; i < 20'000; ++i) {
        Bytes lower = some();
        Bytes upper = some();
        if (lower == upper) continue;
        if (upper < lower) std::swap(lower, upper);
        const std::optional<Bytes> found = between(lower, upper);
        Bytes next = lower;
        next.push_back(0);
        // Only what follows at once leaves no room.
        ASSERT_EQ(found.has_value(), next != upper);
        ASSERT_TRUE(!found || (lower < *found && *found < upper));
        ASSERT_TRUE(lower < *between(lower, kOpen));
        const std::optional<Bytes> before = between(kOpen, upper);
        ASSERT_TRUE(!before || (*before < upper && !before->empty()));
    }
}

}  // namespace
}  // namespace quire::crdt
