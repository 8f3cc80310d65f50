#include "text/charset.h"

#include <string>

#include <gtest/gtest.h>

namespace quire::text {
namespace {

TEST(Charset, NamesAreReadInTheirUsualForms) {
    for (const Charset each : kEvery<Charset>) {
        EXPECT_EQ(parse_charset(name_of(each)), each);
    }
    const std::pair<std::string_view, Charset> others[] = {
        {"Latin1", Charset::latin_1},          {"ISO-8859-1", Charset::latin_1},
        {"iso8859_15", Charset::iso_8859_15},  {"latin9", Charset::iso_8859_15},
        {"CP1252", Charset::windows_1252},     {"Shift-JIS", Charset::shift_jis},
        {"cp932", Charset::shift_jis},         {"UTF8", Charset::utf_8},
        {"UTF_16LE", Charset::utf_16le},
    };
    for (const auto& [name, charset] : others) EXPECT_EQ(parse_charset(name), charset) << name;
    for (const char* const name : {"", "utf-16", "latin-3000", "cp9999", "../x"}) {
        const auto unknown = parse_charset(name);
        ASSERT_FALSE(unknown) << name;
        EXPECT_NE(unknown.error().message().find("windows-1252"), std::string::npos);
    }
}

TEST(Charset, EveryCharsetIsInstalledAndKeepsAscii) {
    for (const Charset each : kEvery<Charset>) {
        const auto bytes = from_utf8(each, "plain ASCII\n");
        ASSERT_TRUE(bytes) << name_of(each);
        EXPECT_EQ(to_utf8(each, *bytes), "plain ASCII\n") << name_of(each);
    }
}

TEST(Charset, AConversionStopsAtWhatCannotBeConverted) {
    EXPECT_EQ(from_utf8(Charset::latin_1, "abé€").error().offset, 4U);
    EXPECT_EQ(to_utf8(Charset::windows_1252, "ab\x81").error().offset, 2U);
    EXPECT_EQ(to_utf8(Charset::utf_16le, std::string("a\0\0", 3)).error().offset, 2U);
    EXPECT_EQ(to_utf8(Charset::utf_16be, std::string("\xD8\0\0a", 4)).error().offset, 0U);
}

TEST(Charset, ATextThatGrowsIsConvertedWhole) {
    const std::string bytes(100'000, '\xE9');
    const auto text = to_utf8(Charset::latin_1, bytes);
    ASSERT_TRUE(text);
    EXPECT_EQ(text->size(), 200'000U);
    EXPECT_EQ(from_utf8(Charset::latin_1, *text), bytes);
    EXPECT_EQ(from_utf8(Charset::gb18030, *text)->size(), 200'000U);
}

}  // namespace
}  // namespace quire::text
