#include "codec/columnar.h"

#include <array>
#include <limits>
#include <random>
#include <span>

#include <gtest/gtest.h>

#include "codec/column_writers.h"
#include "codec/delta_of_delta.h"

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

std::vector<std::int64_t> delta_of_delta(ByteReader& in, std::size_t count) {
    std::vector<std::int64_t> values;
    read_delta_of_delta(in, count, "times", [&](std::int64_t value) { values.push_back(value); });
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
    EXPECT_EQ(delta_of_delta(in, values.size()), values);
    EXPECT_TRUE(in.ok() && in.at_end());
}

// A column that lacks its last byte, or more values than it has bits, is refused at its end.
TEST(DeltaOfDelta, AColumnThatEndsTooEarlyIsAFailure) {
    const Bytes whole = column<DeltaOfDeltaWriter>(std::vector<std::int64_t>{1, 5, 5, 900, 1, 2});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        ByteReader in(std::span<const std::uint8_t>(whole).first(size));
        delta_of_delta(in, 6);
        EXPECT_FALSE(in.ok()) << size;
    }
    ByteReader in(whole);
    delta_of_delta(in, 200);
    EXPECT_FALSE(in.ok());
}

// Reading in bulk and reading one by one give the same, wherever a bulk ends.
TEST(Columns, ReadingInBulkIsReadingOneByOne) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(cat("seed ", seed));
        std::mt19937_64 random(seed);
        const auto numbers = random_values<std::uint64_t>(random);
        const Bytes rle = column<RleWriter<UnsignedCell>>(numbers);
        const std::vector<std::int64_t> signs(numbers.begin(), numbers.end());
        const Bytes delta = column<DeltaRleWriter>(signs);
        ByteReader rle_in(rle);
        ByteReader delta_in(delta);
        RleReader<UnsignedCell> rle_reader(rle_in, "rle");
        DeltaRleReader delta_reader(delta_in, 0, 100'000, "delta");
        std::vector<std::uint64_t> read_numbers;
        std::vector<std::int64_t> read_signs;
        const std::size_t bulk = 1 + random() % 9;
        std::vector<std::uint64_t> some(bulk);
        std::vector<std::int64_t> signed_some(bulk);
        while (!rle_reader.at_end()) {
            const std::size_t count = rle_reader.read(some);
            ASSERT_EQ(delta_reader.read(signed_some), count);
            read_numbers.insert(read_numbers.end(), some.begin(),
                                some.begin() + static_cast<std::ptrdiff_t>(count));
            read_signs.insert(read_signs.end(), signed_some.begin(),
                              signed_some.begin() + static_cast<std::ptrdiff_t>(count));
        }
        EXPECT_EQ(rle_reader.read(some), 0U);
        EXPECT_EQ(read_numbers, numbers);
        EXPECT_EQ(read_signs, signs);
        EXPECT_TRUE(rle_in.ok() && delta_in.ok() && delta_reader.at_end());
    }
}

TEST(Columns, ABulkWithAValueOutsideItsBoundsIsAFailure) {
    const Bytes blob = column<DeltaRleWriter>(std::vector<std::int64_t>{5, 300, 7});
    ByteReader in(blob);
    DeltaRleReader reader(in, 0, 255, "index");
    std::array<std::int64_t, 8> out;

    reader.read(out);
    EXPECT_EQ(in.error().value().message().substr(0, 9), "bad index");
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
        ASSERT_EQ(delta_of_delta(in, signs.size()), signs);
        EXPECT_EQ(in.byte("what follows"), 0xAB);
        EXPECT_TRUE(in.ok() && in.at_end());
    }
}

}  // namespace
}  // namespace quire::codec
