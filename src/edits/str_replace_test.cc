#include "edits/str_replace.h"

#include <gtest/gtest.h>

#include "edits/poem_for_test.h"

namespace quire::edits {
namespace {

Plan once(std::string old_str, std::string new_str) {
    return str_replace({.old_str = std::move(old_str), .new_str = std::move(new_str)});
}
Plan all(std::string old_str, std::string new_str) {
    return str_replace(
        {.old_str = std::move(old_str), .new_str = std::move(new_str), .replace_all = true});
}
std::vector<std::string> notes(std::string_view text, Plan plan) {
    return plan(seq::Rope(text), 1)->notes;
}

TEST(StrReplace, ReplacesATextThatOccursOnce) {
    EXPECT_EQ(outcome("one\ntwo\nthree\n", once("two", "2")), "one\n2\nthree\n");
    EXPECT_EQ(outcome("one\ntwo\nthree\n", once("ne\ntw", "x")), "oxo\nthree\n");
    EXPECT_EQ(outcome("one\ntwo\n", once("two\n", "")), "one\n");
    EXPECT_TRUE(notes("one\ntwo\n", once("two", "2")).empty());
}

TEST(StrReplace, ATextThatOccursTwiceIsRefusedWithItsLines) {
    const Error error = refusal("a\nb\na\nb a\n", once("a", "x"));

    EXPECT_EQ(error.reason(), "not_unique");
    EXPECT_EQ(error.details(), (Map{{"lines", List{1, 3, 4}}}));
    EXPECT_NE(error.message().find("3 times (lines 1, 3, 4)"), std::string::npos)
        << error.message();
}

TEST(StrReplace, PlacesThatOverlapAreNotOnePlace) {
    EXPECT_EQ(outcome("aaa", once("aa", "b")), "not_unique");
}

TEST(StrReplace, AllReplacesEachFromTheLeft) {
    EXPECT_EQ(outcome("a b a\na\n", all("a", "xx")), "xx b xx\nxx\n");
    EXPECT_EQ(outcome("aaa", all("aa", "b")), "ba");
    EXPECT_EQ(notes("a b a\na\n", all("a", "xx")),
              (std::vector<std::string>{"3 occurrences were replaced"}));
    EXPECT_EQ(notes("a b a\n", all("a", "a")), std::vector<std::string>());
    EXPECT_EQ(outcome("b", all("a", "x")), "no_match");
}

TEST(StrReplace, TheOtherKindOfLineEndsIsForgiven) {
    EXPECT_EQ(outcome("a\r\nb\r\nc\r\n", once("a\nb", "x\ny")), "x\r\ny\r\nc\r\n");
    EXPECT_EQ(outcome("a\nb\nc\n", once("a\r\nb", "x\r\ny")), "x\r\ny\nc\n");
    EXPECT_EQ(outcome("a\r\nb\nc\n", once("a\nb\nc", "x")), "x\n");
    EXPECT_EQ(outcome("a\r\nb\r\n", once("\nb", "-")), "a-\r\n");
    EXPECT_EQ(outcome("a\r\nb\r\n", once("b\n", "")), "a\r\n");
    EXPECT_EQ(notes("a\r\nb\r\n", once("a\nb", "x")).size(), 1U);
    EXPECT_EQ(outcome("a\r\nb\r\na\r\nb\r\n", once("a\nb", "x")), "not_unique");
}

TEST(StrReplace, NewlinesWrittenIntoCrlfTextAreCrlf) {
    EXPECT_EQ(outcome("a\r\nb\r\n", once("b", "x\ny")), "a\r\nx\r\ny\r\n");
}

TEST(StrReplace, NumbersCopiedFromAViewAreForgiven) {
    EXPECT_EQ(outcome("a\n\tb\nc\n", once("1\ta\n2\t\tb\n", "x\n")), "x\nc\n");
    EXPECT_EQ(outcome("a\nb\nc\n", once("     1\ta\n     2\tb", "1\tx\n2\ty")), "x\ny\nc\n");
    EXPECT_EQ(outcome("a\r\nb\r\n", once("1\ta\n2\tb", "x\ny")), "x\r\ny\r\n");
    EXPECT_EQ(notes("a\nb\n", once("1\ta", "x")).size(), 1U);
    EXPECT_EQ(outcome("a\nb\n", once("1\ta\nb", "x")), "no_match")
        << "only when every line has one";
    EXPECT_EQ(outcome("1\ta\na\n", once("1\ta", "x")), "x\na\n") << "the text itself comes first";
}

TEST(StrReplace, IndentationIsNotForgivenButShown) {
    const Error error =
        refusal("if x:\n\treturn 1  \nelse:\n\treturn 2\nend\nmore\n", once("    return 1", "y"));

    EXPECT_EQ(error.reason(), "no_match");
    EXPECT_EQ(error.details(), (Map{{"closest", Map{{"start_line", 2}, {"end_line", 2}}}}));
    EXPECT_NE(error.message().find("1\tif x:\n2\t→return 1··\n3\telse:\n4\t→return 2\n"),
              std::string::npos)
        << error.message();
    EXPECT_EQ(error.message().find("5\tend"), std::string::npos);
}

TEST(StrReplace, TheClosestPlaceIsWhereMostLinesAgree) {
    const std::string text = "alpha\nbeta\ngamma\n\nalpha\nbeta\ndelta\nepsilon\n";
    const Error error = refusal(text, once("alpha\nbeta\n  delta\nEPSILON", "x"));

    EXPECT_EQ(error.details(), (Map{{"closest", Map{{"start_line", 5}, {"end_line", 8}}}}));
}

TEST(StrReplace, AMisspeltLineFindsItsNeighbour) {
    const Error error =
        refusal("int main() {\n    return compute(1);\n}\n", once("return computed(1);", "x"));

    EXPECT_EQ(error.details(), (Map{{"closest", Map{{"start_line", 2}, {"end_line", 2}}}}));
}

TEST(StrReplace, ANoMatchWithoutSimilarTextSaysSo) {
    const Error error = refusal("alpha\nbeta\n", once("zzz yyy", "x"));

    EXPECT_EQ(error.reason(), "no_match");
    EXPECT_TRUE(error.details().empty());
    EXPECT_EQ(outcome("", once("a", "b")), "no_match");
}

TEST(StrReplace, AnEmptySearchTextIsRefused) {
    EXPECT_EQ(outcome("a", once("", "b")), "empty_content");
}

TEST(StrReplace, ReplacingByItselfIsNoChange) {
    EXPECT_TRUE(once("a", "a")(seq::Rope("a"), 1)->splices.empty());
}

TEST(StrReplace, FindsAcrossAnyChunks) {
    std::string text;
    for (int i = 0; i < 40000; ++i) text += "line " + std::to_string(i) + "\n";

    EXPECT_EQ(outcome(text, once("line 20000\nline 20001\n", "")).size(), text.size() - 22);
}

}  // namespace
}  // namespace quire::edits
