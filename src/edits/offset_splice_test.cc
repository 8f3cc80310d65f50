#include "edits/offset_splice.h"

#include <gtest/gtest.h>

#include "edits/poem_for_test.h"

namespace quire::edits {
namespace {

// "é" is two bytes, "😀" four and two UTF-16 units.
constexpr const char* kText = "aé😀b";

Plan splice(OffsetUnit unit, std::size_t offset, std::size_t count, std::string insert) {
    return offset_splice(
        {.offset = offset, .delete_count = count, .insert = std::move(insert), .unit = unit});
}

TEST(Splice, CountsInTheUnitAsked) {
    EXPECT_EQ(outcome(kText, splice(OffsetUnit::byte, 3, 4, "x")), "aéxb");
    EXPECT_EQ(outcome(kText, splice(OffsetUnit::codepoint, 2, 1, "x")), "aéxb");
    EXPECT_EQ(outcome(kText, splice(OffsetUnit::utf16, 2, 2, "x")), "aéxb");
    EXPECT_EQ(outcome(kText, splice(OffsetUnit::byte, 8, 0, "x")), "aé😀bx");
    EXPECT_EQ(outcome("", splice(OffsetUnit::byte, 0, 0, "x")), "x");
}

TEST(Splice, AddsNoNewline) {
    EXPECT_EQ(outcome("a\r\n", splice(OffsetUnit::byte, 3, 0, "b\n")), "a\r\nb\n");
}

TEST(Splice, InsideACharacterIsRefusedWithTheNearestBoundary) {
    const Error error = refusal(kText, splice(OffsetUnit::byte, 6, 0, "x"));
    EXPECT_EQ(error.reason(), "not_on_boundary");
    EXPECT_EQ(error.details(), (Map{{"position", 6}, {"nearest", 7}}));

    EXPECT_EQ(*refusal(kText, splice(OffsetUnit::byte, 4, 0, "x")).details().find("nearest"),
              Value(3));
    EXPECT_EQ(*refusal(kText, splice(OffsetUnit::utf16, 3, 0, "x")).details().find("nearest"),
              Value(2));
    EXPECT_EQ(*refusal(kText, splice(OffsetUnit::byte, 0, 2, "x")).details().find("position"),
              Value(2));
}

TEST(Splice, PastTheEndIsRefused) {
    const Error error = refusal(kText, splice(OffsetUnit::byte, 7, 2, ""));
    EXPECT_EQ(error.code(), Errc::out_of_range);
    EXPECT_EQ(error.details(), (Map{{"requested", 9}, {"max", 8}}));

    EXPECT_EQ(*refusal(kText, splice(OffsetUnit::utf16, 6, 0, "")).details().find("max"), Value(5));
    EXPECT_EQ(outcome(kText, splice(OffsetUnit::byte, 1, SIZE_MAX, "")), "invalid_range");
    EXPECT_EQ(outcome("", splice(OffsetUnit::codepoint, 1, 0, "")), "invalid_range");
}

TEST(Splice, ExpectedIsComparedToTheByte) {
    const auto guarded = [](std::string expected) {
        return offset_splice(
            {.offset = 1, .delete_count = 1, .insert = "x", .expected = std::move(expected)});
    };
    EXPECT_EQ(outcome("abc", guarded("b")), "axc");
    EXPECT_EQ(outcome("abc", guarded("B")), "content_mismatch");
    EXPECT_EQ(outcome("abc", guarded("bc")), "content_mismatch");
    EXPECT_EQ(*refusal("abc", guarded("B")).details().find("actual"), Value("b"));
    EXPECT_EQ(refusal("abc", guarded("B")).details().find("actual_truncated"), nullptr);
}

TEST(Splice, AMismatchSaysWhenItQuotesAPart) {
    const std::string text((64 << 10) + 1, 'a');
    const Error error =
        refusal(text, offset_splice({.offset = 0, .delete_count = text.size(), .expected = "z"}));

    EXPECT_EQ(*error.details().find("actual"), Value(text.substr(1)));
    EXPECT_EQ(*error.details().find("actual_truncated"), Value(true));
    EXPECT_NE(error.message().find("read the block"), std::string::npos);
}

}  // namespace
}  // namespace quire::edits
