#include "codec/columnar.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace quire::codec {
namespace {

Bytes bytes(std::initializer_list<int> list) {
    Bytes out;
    for (const int byte : list) out.push_back(static_cast<std::uint8_t>(byte));
    return out;
}

template <class Writer, class T>
Bytes column(const std::vector<T>& values) {
    ByteWriter out;
    Writer writer(out);
    for (const T value : values) writer.append(value);
    writer.finish();
    return std::move(out).take();
}

template <class T>
std::vector<T> random_values(std::mt19937_64& random) {
    std::vector<T> values;
    const std::size_t size = random() % 40;
    T value{};
    for (std::size_t i = 0; i < size; ++i) {
        switch (random() % 4) {
            case 0:
                value = static_cast<T>(random() % 3);
                break;
            case 1:
                value = static_cast<T>(random() % 60'000);
                break;
            default:
                break;  // Runs are what the columns are for.
        }
        values.push_back(value);
    }
    return values;
}

// Two equal values begin a run; what differs is literal.
TEST(Rle, SegmentsAreCutWhereLoroCutsThem) {
    using Values = std::vector<std::uint64_t>;
    using Writer = RleWriter<UnsignedCell>;

    EXPECT_EQ(column<Writer>(Values{}), bytes({}));
    EXPECT_EQ(column<Writer>(Values{7}), bytes({0x01, 7}));
    EXPECT_EQ(column<Writer>(Values{7, 7, 7}), bytes({0x06, 7}));
    EXPECT_EQ(column<Writer>(Values{1, 2, 3, 3, 4}), bytes({0x03, 1, 2, 0x04, 3, 0x01, 4}));
}

TEST(Rle, ARunOfNothingAndARunWithoutItsValueAreFailures) {
    for (const Bytes& blob : {bytes({0x00, 7}), bytes({0x06}), bytes({0x03, 1})}) {
        ByteReader in(blob);
        RleReader<UnsignedCell> reader(in, "column");
        while (in.ok() && !reader.at_end()) reader.next();
        EXPECT_FALSE(in.ok());
    }
}

TEST(DeltaRle, AValueOutsideItsBoundsIsAFailure) {
    const Bytes blob = column<DeltaRleWriter>(std::vector<std::int64_t>{5, 300});
    ByteReader in(blob);
    DeltaRleReader reader(in, 0, 255, "index");

    EXPECT_EQ(reader.next(), 5);
    EXPECT_EQ(reader.next(), 0);
    EXPECT_EQ(in.error().value().message().substr(0, 9), "bad index");
}

TEST(BoolRle, StartsWithFalse) {
    EXPECT_EQ(column<BoolRleWriter>(std::vector<bool>{true}), bytes({0, 1}));
    EXPECT_EQ(column<BoolRleWriter>(std::vector<bool>{false, false, true}), bytes({2, 1}));
}

TEST(DeltaOfDelta, AnEmptyColumnIsTwoZeroBytesAndOneValueHasNoBits) {
    EXPECT_EQ(column<DeltaOfDeltaWriter>(std::vector<std::int64_t>{}), bytes({0, 0}));
    EXPECT_EQ(column<DeltaOfDeltaWriter>(std::vector<std::int64_t>{-1}), bytes({1, 1, 0}));
}

TEST(DeltaOfDelta, EveryCodeReadsBackAtItsBorders) {
    std::vector<std::int64_t> values;
    std::uint64_t value = 0;
    std::uint64_t delta = 0;
    for (const std::int64_t change :
         {std::int64_t{0}, std::int64_t{-63}, std::int64_t{64}, std::int64_t{65}, std::int64_t{-64},
          std::int64_t{-255}, std::int64_t{256}, std::int64_t{257}, std::int64_t{-2047},
          std::int64_t{2048}, std::int64_t{2049}, std::int64_t{-1048575}, std::int64_t{1048576},
          std::int64_t{1048577}, std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::int64_t>::max()}) {
        delta += static_cast<std::uint64_t>(change);
        value += delta;
        values.push_back(static_cast<std::int64_t>(value));
    }
    const Bytes blob = column<DeltaOfDeltaWriter>(values);

    ByteReader in(blob);
    DeltaOfDeltaReader reader(in, values.size(), "times");
    for (const std::int64_t expected : values) EXPECT_EQ(reader.next(), expected);
    EXPECT_TRUE(in.ok() && in.at_end());
}

TEST(Columns, RandomColumnsReadBackAndLeaveWhatFollows) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(cat("seed ", seed));
        std::mt19937_64 random(seed);
        const auto numbers = random_values<std::uint64_t>(random);
        const auto signs = random_values<std::int64_t>(random);
        const auto flags = random_values<bool>(random);
        ByteWriter out;
        RleWriter<UnsignedCell> rle(out);
        for (const auto value : numbers) rle.append(value);
        rle.finish();
        DeltaRleWriter delta(out);
        for (const auto value : signs) delta.append(value);
        delta.finish();
        BoolRleWriter boolean(out);
        for (const bool value : flags) boolean.append(value);
        boolean.finish();
        DeltaOfDeltaWriter double_delta(out);
        for (const auto value : signs) double_delta.append(value);
        double_delta.finish();
        out.byte(0xAB);

        ByteReader in(out.bytes());
        RleReader<UnsignedCell> rle_in(in, "rle");
        for (const auto value : numbers) ASSERT_EQ(rle_in.next(), value);
        EXPECT_TRUE(rle_in.at_boundary());
        DeltaRleReader delta_in(in, 0, 100'000, "delta");
        for (const auto value : signs) ASSERT_EQ(delta_in.next(), value);
        BoolRleReader boolean_in(in, "bool");
        for (const bool value : flags) ASSERT_EQ(boolean_in.next(), value);
        EXPECT_TRUE(boolean_in.at_boundary());
        DeltaOfDeltaReader double_delta_in(in, signs.size(), "double delta");
        for (const auto value : signs) ASSERT_EQ(double_delta_in.next(), value);
        EXPECT_EQ(in.byte("what follows"), 0xAB);
        EXPECT_TRUE(in.ok() && in.at_end());
    }
}

}  // namespace
}  // namespace quire::codec
