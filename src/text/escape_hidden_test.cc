#include "text/escape_hidden.h"

#include <gtest/gtest.h>

namespace quire::text {
namespace {

TEST(EscapeHidden, EveryCharacterCanBeSeen) {
    EXPECT_EQ(escape_hidden("plain, naïve 你好"), "plain, naïve 你好");
    EXPECT_EQ(escape_hidden("a\x1b[2Jb\nc"), "a\\u{1b}[2Jb\\u{a}c");
    EXPECT_EQ(escape_hidden_lines("a\x1b[2J\tb\n\r\nc"), "a\\u{1b}[2J\tb\n\\u{d}\nc");
    EXPECT_EQ(escape_hidden("\xe2\x80\xaeqwe"), "\\u{202e}qwe");
    EXPECT_EQ(escape_hidden("a\xe2\x80\x8bz"), "a\\u{200b}z");
    EXPECT_EQ(escape_hidden("\xf3\xa0\x81\x81"), "\\u{e0041}");
    EXPECT_EQ(escape_hidden("a\xff\xfe"), "a\\x{ff}\\x{fe}");
    EXPECT_EQ(escape_hidden(""), "");
    EXPECT_EQ(escape_hidden("\x1f ~\x7f"), "\\u{1f} ~\\u{7f}");
    EXPECT_EQ(escape_hidden("\xff" "ab"), "\\x{ff}ab");
}

}  // namespace
}  // namespace quire::text
