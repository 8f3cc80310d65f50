#include "text/shown.h"

#include <gtest/gtest.h>

namespace quire::text {
namespace {

TEST(Shown, EveryCharacterCanBeSeen) {
    EXPECT_EQ(shown("plain, naïve 你好"), "plain, naïve 你好");
    EXPECT_EQ(shown("a\x1b[2Jb\nc"), "a\\u{1b}[2Jb\\u{a}c");
    EXPECT_EQ(shown("\xe2\x80\xaeqwe"), "\\u{202e}qwe");
    EXPECT_EQ(shown("a\xe2\x80\x8bz"), "a\\u{200b}z");
    EXPECT_EQ(shown("\xf3\xa0\x81\x81"), "\\u{e0041}");
    EXPECT_EQ(shown("a\xff\xfe"), "a\\x{ff}\\x{fe}");
}

}  // namespace
}  // namespace quire::text
