#include "base/bytes.h"

#include <cstdint>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/varint.h"

namespace quire {
namespace {

Bytes bytes(std::initializer_list<int> list) {
    Bytes out;
    for (const int byte : list) out.push_back(static_cast<std::uint8_t>(byte));
    return out;
}

template <class Write, class T>
Bytes written(Write write, T value) {
    ByteWriter writer;
    write(writer, value);
    return std::move(writer).take();
}

TEST(ByteReader, FixedWidthsReadInTheirOrder) {
    const Bytes blob = bytes({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
    ByteReader reader(blob);

    EXPECT_EQ(reader.u16_be("a"), 0x0102);
    EXPECT_EQ(reader.u32_le("b"), 0x06050403U);
    EXPECT_EQ(reader.u64_be("c"), 0x0708090A0B0C0D0EULL);
    EXPECT_TRUE(reader.at_end());
    EXPECT_TRUE(reader.ok());
}

TEST(ByteReader, TheFirstFailureIsKeptWithItsPlaceAndEndsTheReading) {
    const Bytes blob = bytes({1, 2, 3});
    ByteReader reader(blob, 100);
    reader.byte("one");

    EXPECT_EQ(reader.u32_le("the number"), 0U);
    EXPECT_EQ(reader.byte("another"), 0);

    EXPECT_FALSE(reader.ok());
    EXPECT_TRUE(reader.at_end());
    const Error error = reader.error().value();
    EXPECT_EQ(error.code(), Errc::corrupt);
    EXPECT_EQ(error.message(), "bad the number at byte 101");
    EXPECT_EQ(error.details().find("offset")->as_int(), 101);
}

TEST(ByteReader, APartReportsPlacesInTheWhole) {
    const Bytes blob = bytes({1, 2, 3, 4});
    ByteReader reader(blob, 10);
    reader.byte("one");

    ByteReader part = reader.part(2, "part");
    part.byte("two");
    part.byte("three");
    part.byte("four");

    EXPECT_EQ(part.error().value().message(), "bad four at byte 13");
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.byte("four"), 4);
}

TEST(Varint, KnownSpellings) {
    const auto uleb = [](ByteWriter& w, std::uint64_t v) { write_uleb(w, v); };
    const auto sleb = [](ByteWriter& w, std::int64_t v) { write_sleb(w, v); };
    const auto zigzag = [](ByteWriter& w, std::int64_t v) { write_zigzag(w, v); };

    EXPECT_EQ(written(uleb, 624485ULL), bytes({0xE5, 0x8E, 0x26}));
    EXPECT_EQ(written(sleb, -1LL), bytes({0x7F}));
    EXPECT_EQ(written(zigzag, -1LL), bytes({0x01}));
    EXPECT_EQ(written(sleb, 64LL), bytes({0xC0, 0x00}));
    EXPECT_EQ(written(sleb, -123456LL), bytes({0xC0, 0xBB, 0x78}));
}

TEST(Varint, EverySpellingReadsBack) {
    std::vector<std::int64_t> values = {0,
                                        1,
                                        -1,
                                        63,
                                        64,
                                        -64,
                                        -65,
                                        127,
                                        128,
                                        std::numeric_limits<std::int64_t>::max(),
                                        std::numeric_limits<std::int64_t>::min()};
    const unsigned seed = 20261121;
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937_64 random(seed);
    for (int i = 0; i < 2000; ++i)
        values.push_back(static_cast<std::int64_t>(random() >> (random() % 64)));

    for (const std::int64_t value : values) {
        ByteWriter writer;
        write_uleb(writer, static_cast<std::uint64_t>(value));
        write_sleb(writer, value);
        write_zigzag(writer, value);
        ByteReader reader(writer.bytes());

        EXPECT_EQ(read_uleb(reader, "uleb"), static_cast<std::uint64_t>(value));
        EXPECT_EQ(read_sleb(reader, "sleb"), value);
        EXPECT_EQ(read_zigzag(reader, "zigzag"), value);
        EXPECT_TRUE(reader.ok() && reader.at_end()) << value;
    }
}

TEST(Varint, MoreThanSixtyFourBitsIsAFailure) {
    const Bytes endless(11, 0xFF);
    const Bytes one_bit_too_many =
        bytes({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02});
    for (const Bytes& blob : {endless, one_bit_too_many}) {
        ByteReader unsigned_reader(blob);
        read_uleb(unsigned_reader, "number");
        EXPECT_FALSE(unsigned_reader.ok());
        ByteReader signed_reader(blob);
        read_sleb(signed_reader, "number");
        EXPECT_FALSE(signed_reader.ok());
    }
}

TEST(Varint, AnUnclosedNumberIsAFailure) {
    const Bytes blob = bytes({0x80});
    ByteReader reader(blob);

    EXPECT_EQ(read_uleb(reader, "number"), 0U);

    EXPECT_EQ(reader.error().value().message(), "bad number at byte 1");
}

TEST(Varint, ANumberAboveItsBoundIsAFailure) {
    const Bytes blob = bytes({0x05});
    ByteReader reader(blob);

    EXPECT_EQ(read_uleb(reader, 4, "index"), 0U);

    EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace quire
