// Presence as bytes: the bytes of loro-crdt 1.17.1, both ways, and damaged ones.
#include "codec/presence.h"

#include <string_view>

#include <gtest/gtest.h>

#include "base/hex.h"

namespace quire::codec {
namespace {

// An EphemeralStore of loro-crdt wrote this for "b" set to {x: [1, 2.5, null, "s", true]} and "a"
// erased.
constexpr std::string_view kRecorded =
    "02"
    "0161" "00" "ee9084fbc268"
    "0162" "01" "06010178050503020200000000000004400004017301" "01" "ec9084fbc268";

Bytes recorded() {
    return quire::from_hex(kRecorded).value();
}

TEST(PresenceBytes, AreLoros) {
    const auto entries = decode_presence(recorded());
    ASSERT_TRUE(entries);
    ASSERT_EQ(entries->size(), 2U);
    EXPECT_FALSE(entries->at("a").value);
    EXPECT_EQ(entries->at("b").value, Value(Map{{"x", List{1, 2.5, nullptr, "s", true}}}));
    EXPECT_EQ(entries->at("a").written_ms - entries->at("b").written_ms, 1);
    EXPECT_EQ(encode_presence(*entries), recorded());
}

TEST(PresenceBytes, OfAnEmptyStoreAreOneByte) {
    EXPECT_EQ(encode_presence({}), Bytes{0});
    EXPECT_TRUE(decode_presence(Bytes{0})->empty());
}

TEST(PresenceBytes, OfTwoEntriesWithOneKeyTheLaterCounts) {
    const auto entries = decode_presence(quire::from_hex("03" "016b010302" "02" "016b010304" "04" "016b010306" "04").value());
    ASSERT_TRUE(entries);
    EXPECT_EQ(entries->at("k").value, Value(2));
}

TEST(PresenceBytes, AnyCutAndAnyTailAreCorrupt) {
    const Bytes whole = recorded();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto cut = decode_presence(std::span(whole).first(size));
        ASSERT_FALSE(cut) << size;
        EXPECT_EQ(cut.error().code(), Errc::corrupt);
    }
    Bytes longer = whole;
    longer.push_back(0);
    EXPECT_FALSE(decode_presence(longer));
}

TEST(PresenceBytes, ACountBeyondTheBytesIsCorrupt) {
    EXPECT_FALSE(decode_presence(quire::from_hex("ffffffff0f").value()));
}

TEST(PresenceBytes, AContainerIsNoValue) {
    EXPECT_FALSE(decode_presence(quire::from_hex("01" "0161" "01" "07" "00").value()));
}

}  // namespace
}  // namespace quire::codec
