#include "codec/cursor.h"

#include <gtest/gtest.h>

#include "codec/golden_for_test.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Cursor;
using crdt::Side;

std::string hex(const Cursor& cursor) {
    std::string digits;
    for (const std::uint8_t byte : encode_cursor(cursor)) {
        digits += "0123456789abcdef"[byte >> 4];
        digits += "0123456789abcdef"[byte & 15];
    }
    return digits;
}
Result<Cursor> decode(std::string_view digits) {
    return decode_cursor(from_hex(digits));
}

// The bytes were written by loro-crdt 1.17.1.
TEST(CursorBytes, AreLoros) {
    const auto text = ContainerId::root("t", ContainerKind::text);
    const auto list = ContainerId::root("l", ContainerKind::list);
    const auto child = ContainerId::normal({1, 29}, ContainerKind::text);

    EXPECT_EQ(hex({text, crdt::OpId{1, 3}, Side::middle, 3}), "010106000174000103");
    EXPECT_EQ(hex({text, crdt::OpId{1, 2}, Side::left, 2}), "010104000174000002");
    EXPECT_EQ(hex({text, {}, Side::left, 0}), "00000174000000");
    EXPECT_EQ(hex({list, crdt::OpId{1, 20}, Side::right, 1}), "01012800016c020201");
    EXPECT_EQ(hex({child, crdt::OpId{1, 31}, Side::middle, 1}), "01013e01013a000101");
    for (const char* bytes : {"010106000174000103", "00000174000206", "0000016d030000",
                              "01013e01013a000101", "010106000174090103"}) {
        const auto cursor = decode(bytes);
        ASSERT_TRUE(cursor) << bytes;
        EXPECT_EQ(hex(*cursor), bytes);
    }
}

TEST(CursorBytes, AreRefusedWhereTheyAreNone) {
    for (const char* bytes : {
             "", "ff", "0106", "01010600017400",  // Cut short.
             "0101060001740003",                  // No such side.
             "01010600017400010300",              // Something after the end.
             "010105000174000103",                // A negative counter.
             "0101060001ff000103",                // A name that is not UTF-8.
             "02010600017400010300", "0101060201740001",
             "01ffffffffffffffffff0106000174000103",  // The peer that is none.
         }) {
        const auto cursor = decode(bytes);
        ASSERT_FALSE(cursor) << bytes;
        EXPECT_EQ(cursor.error().code(), Errc::corrupt) << bytes;
    }
}

}  // namespace
}  // namespace quire::codec
