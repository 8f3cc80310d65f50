#include "text/ecma_pattern.h"

#include <string>

#include <gtest/gtest.h>

namespace quire::text {
namespace {

bool found(std::string_view pattern, std::string_view text) {
    const auto test = ecma_pattern(pattern);
    EXPECT_TRUE(test) << pattern << ": " << (test ? "" : test.error().message());
    return test && (*test)(text);
}

std::string refusal(std::string_view pattern) {
    const auto test = ecma_pattern(pattern);
    return test ? "" : test.error().reason();
}

TEST(EcmaPattern, HasEcmasMeaning) {
    struct Case {
        std::string_view pattern, text;
        bool found;
    };
    const Case cases[] = {
        {"b", "abc", true},
        {"^a.c$", "abc", true},
        {"^abc$", "abc\n", false},
        {"a.c", "a\nc", false},
        {"a.c",
         "a\xE2\x80\xA8"
         "c",
         false},  // U+2028
        {"^.$", "😀", true},
        {"^\\u{1F600}$", "😀", true},
        {"^\\uD83D\\uDE00$", "😀", true},
        {"^[\\uD83D\\uDE00-\\uD83D\\uDE02]$", "😁", true},
        {"^\\x41\\u0042\\cJ\\0$", std::string_view("AB\n\0", 4), true},
        {"^\\s$", "\xEF\xBB\xBF", true},  // U+FEFF
        {"^[\\s]$", "\xC2\xA0", true},
        {"^\\S$", "\xC2\xA0", false},
        {"^[^\\S]$", "\xC2\xA0", true},
        {"^[^\\s\\d]$", "x", true},
        {"^\\d$", "\xD9\xA0", false},  // An Arabic digit.
        {"^\\p{Nd}$", "\xD9\xA0", true},
        {"^\\p{gc=Decimal_Number}$", "\xD9\xA0", true},
        {"^\\P{Letter}$", "1", true},
        {"^[\\p{Lu}\\P{L}]+$", "É1", true},
        {"^\\p{Script=Greek}+$", "λόγος", true},
        {"^\\p{ASCII}+$", "é", false},
        {"^[\\b]$", "\b", true},
        {"\\bcat\\b", "a cat.", true},
        {"\\bcat\\b", "scatter", false},
        {"^[]$", "", false},
        {"^[^]$", "\n", true},
        {"^[[:alpha:]]$", "a]", true},
        {"^[\\w-.]+$", "a-b.c", true},
        {"^a{2}$", "aa", true},
        {"^a{,2}$", "a{,2}", true},
        {"^x{$", "x{", true},
        {"^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$", "2024-11", true},
        {"^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$", "2024-13", false},
        {"^\\/\\-\\_\\.$", "/-_.", true},
        {"^(?=.*[A-Z])(?=.*\\d).{4,}$", "abC1", true},
        {"^(?=.*[A-Z])(?=.*\\d).{4,}$", "abc1", false},
        {"^(?!con$|aux$)[a-z]+$", "con", false},
        {"^(?!con$|aux$)[a-z]+$", "cone", true},
        {"", "anything", true},
    };
    for (const Case& each : cases) {
        EXPECT_EQ(found(each.pattern, each.text), each.found)
            << each.pattern << " in " << each.text;
    }
}

TEST(EcmaPattern, RefusesTextThatIsNoPattern) {
    for (const std::string_view pattern :
         {"(",           ")",       "[",     "[a",   "a**", "*a",   "^*",    "a++",
          "(?:",         "(?<n",    "\\",    "\\Z",  "\\a", "\\x4", "\\u12", "\\u{}",
          "\\u{110000}", "\\uD83D", "[b-a]", "\\c1", "\\p", "\\pL", "\xFF"}) {
        EXPECT_EQ(refusal(pattern), "invalid_regex") << pattern;
    }
}

TEST(EcmaPattern, RefusesPatternsThatItCannotRun) {
    for (const std::string_view pattern :
         {"(a)\\1", "(?<n>a)\\k<n>", "a(?=b)", "(?=a)b", "^(?=a)b|c", "^(?=(?=a)b)c", "(?<=a)b",
          "(?<!a)b", "(?i:a)", "\\p{Emoji}", "\\p{Cn}", "\\p{Script=Nowhere}", "a{5000}",
          "^(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)", "(?:(?:a{999}){999}){999}"}) {
        EXPECT_EQ(refusal(pattern), "unsupported_regex") << pattern;
    }
    EXPECT_EQ(refusal(std::string(5000, 'a')), "too_large");
}

TEST(EcmaPattern, TakesTimeLinearInTheText) {
    const std::string text(200'000, 'a');
    EXPECT_FALSE(found("^(a+)+$", text + "!"));
    EXPECT_FALSE(found("(.*)(.*)(.*)(.*)x", text));
}

}  // namespace
}  // namespace quire::text
