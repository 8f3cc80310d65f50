#include "edits/view.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/utf8.h"
#include "edits/find.h"
#include "edits/lines.h"
#include "edits/numbering.h"

namespace quire::edits {
namespace {

using seq::Rope;
using Lines = std::vector<std::string>;

std::optional<text::LineRange> range(std::size_t begin, std::size_t end) {
    return text::LineRange{{begin}, {end}};
}

TEST(View, ShowsLinesAsTheyAre) {
    const auto shown = view(Rope("a\r\n\tb \nc"), {}, {});

    EXPECT_EQ(shown->lines, (Lines{"a\r\n", "\tb \n", "c"}));
    EXPECT_FALSE(shown->truncated);
}

TEST(View, AnEndBeyondTheLastLineIsClamped) {
    EXPECT_EQ(view(Rope("a\nb\nc\n"), range(1, 99), {})->lines, (Lines{"b\n", "c\n"}));
    EXPECT_EQ(view(Rope("a\nb\n"), range(2, 2), {})->lines, Lines{});
    EXPECT_EQ(view(Rope("a\nb\n"), range(2, 9), {})->lines, Lines{});
    EXPECT_EQ(view(Rope(""), {}, {})->lines, Lines{});
}

TEST(View, AStartBeyondTheEndIsRefused) {
    const auto shown = view(Rope("a\nb\n"), range(3, 9), {});
    ASSERT_FALSE(shown);
    EXPECT_EQ(shown.error().reason(), "line_out_of_range");
    EXPECT_EQ(shown.error().details(), (Map{{"requested", 3}, {"max", 2}}));
    EXPECT_EQ(view(Rope("a\nb\n"), range(2, 1), {}).error().reason(), "invalid_range");
}

TEST(View, TextBeyondTheLimitIsCutWithANote) {
    const auto shown = view(Rope("ééé\na\nb\n"), {}, {.lines = 2, .columns = 2});

    EXPECT_EQ(shown->lines, (Lines{"éé\n", "a\n"}));
    EXPECT_TRUE(shown->truncated);
    EXPECT_EQ(shown->notes.size(), 2U);
}

TEST(View, APartOfALineIsReadByItsColumns) {
    const Rope text("first\n0123456789é\r\nlast");
    const text::LineRange second{{1}, {2}};

    const auto middle = view(text, {second, Columns{2, 5}}, {});
    const auto end = view(text, {second, Columns{9, 99}}, {});
    const auto cut = view(text, {second, Columns{2, 9}}, {.columns = 3});

    EXPECT_EQ(middle->lines, Lines{"234"});
    EXPECT_FALSE(middle->truncated);
    EXPECT_EQ(end->lines, Lines{"9é\r\n"});
    EXPECT_EQ(end->line_columns, 11);
    EXPECT_EQ(cut->lines, Lines{"234"});
    EXPECT_TRUE(cut->truncated);
    EXPECT_EQ(cut->columns, (Columns{2, 5}));
}

TEST(View, ColumnsOfSeveralLinesOrBeyondTheLineAreRefused) {
    const Rope text("one\ntwo\n");

    EXPECT_EQ(view(text, {{}, Columns{0, 1}}, {}).error().reason(), "invalid_arguments");
    EXPECT_EQ(view(text, {text::LineRange{{0}, {2}}, Columns{0, 1}}, {}).error().reason(),
              "invalid_arguments");
    const text::LineRange first{{0}, {1}};
    EXPECT_EQ(view(text, {first, Columns{4, 5}}, {}).error().reason(), "invalid_range");
    EXPECT_EQ(view(text, {first, Columns{2, 1}}, {}).error().reason(), "invalid_range");
    EXPECT_EQ(view(text, {first, Columns{3, 9}}, {})->lines, Lines{"\n"});
}

TEST(View, NamesTheLineEnds) {
    EXPECT_EQ(eol_name(Rope("")), "none");
    EXPECT_EQ(eol_name(Rope("a\rb")), "none");
    EXPECT_EQ(eol_name(Rope("a\nb")), "lf");
    EXPECT_EQ(eol_name(Rope("a\r\nb\r\n")), "crlf");
    EXPECT_EQ(eol_name(Rope("a\r\nb\n")), "mixed");
}

TEST(View, CountsLinesAsTheContractDoes) {
    EXPECT_EQ(Rope("").lines().n, 0U);
    EXPECT_EQ(Rope("a").lines().n, 1U);
    EXPECT_EQ(Rope("a\n").lines().n, 1U);
    EXPECT_EQ(Rope("a\n\n").lines().n, 2U);
    EXPECT_EQ(Rope("a\rb").lines().n, 1U);
}

TEST(View, ASummaryIsTheFirstLineThatSaysSomething) {
    EXPECT_EQ(summary(Rope("\n \t\n  Hello, world \r\nmore\n")), "Hello, world");
    EXPECT_EQ(summary(Rope("no newline")), "no newline");
    EXPECT_EQ(summary(Rope(" \n\n")), "");
    EXPECT_EQ(summary(Rope("")), "");
    std::string accents;
    for (int i = 0; i < 100; ++i) accents += "é";
    EXPECT_EQ(summary(Rope(accents)), accents.substr(0, 160));
    EXPECT_EQ(summary(Rope("  " + std::string(200'000, 'x'))), std::string(80, 'x'));
}

TEST(View, NumbersLinesFromZeroOrOne) {
    const Lines lines = {"a\n", "\tb"};

    EXPECT_EQ(numbered(lines, {4}, Numbering::zero_half_open), "4\ta\n5\t\tb");
    EXPECT_EQ(numbered(lines, {4}, Numbering::one_inclusive, true), "5\ta\n6\t\tb\n");
    EXPECT_EQ(in_words(Numbering::zero_half_open, {{4}, {6}}), "lines [4, 6)");
    EXPECT_EQ(in_words(Numbering::one_inclusive, {{4}, {6}}), "lines 5-6");
    EXPECT_EQ(in_words(Numbering::one_inclusive, {{4}, {5}}), "line 5");
}

TEST(View, ReadsLinesInOnePass) {
    const Rope text("a\nbb\n\nc");
    Lines seen;
    for_each_line(text, {{1}, {4}}, [&](text::Line line, std::string_view content) {
        seen.push_back(std::to_string(line.n) + std::string(content));
        return line.n < 2;
    });
    EXPECT_EQ(seen, (Lines{"1bb\n", "2\n"}));
}

struct Case {
    const char* after;
    std::vector<text::Splice> splices;
    text::LineRange changed;
};

TEST(Change, ItsLinesAreThoseThatHoldTheWrittenText) {
    const Case cases[] = {
        {"a\nX\nb\n", {{{2}, {0}, "X\n"}}, {{1}, {2}}},
        {"a\nX\nY\nb\n", {{{2}, {1}, "X\nY"}}, {{1}, {3}}},
        {"a\nb\n", {{{2}, {2}, ""}}, {{1}, {1}}},      // A line was deleted.
        {"a\n", {{{2}, {2}, ""}}, {{1}, {1}}},         // The last one.
        {"ab\n", {{{1}, {1}, ""}}, {{0}, {1}}},        // Part of a line.
        {"a\nb\nc", {{{3}, {0}, "\nc"}}, {{2}, {3}}},  // After an unterminated last line.
        {"a\r\nb\r\nc", {{{4}, {0}, "\r\nc"}}, {{2}, {3}}},
        {"a\n\nb\n", {{{2}, {0}, "\n"}}, {{1}, {2}}},  // A blank line.
        {"x\na\nb\ny\n", {{{0}, {0}, "x\n"}, {{4}, {0}, "y\n"}}, {{0}, {4}}},
        {"a\n", {}, {{0}, {0}}},
        {"x", {{{0}, {0}, "x"}}, {{0}, {1}}},
        {"", {{{0}, {3}, ""}}, {{0}, {0}}},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(change_made(Rope(c.after), c.splices, 100).changed, c.changed)
            << testing::PrintToString(c.after);
    }
}

TEST(Change, IsShownWithTwoLinesOnEitherSide) {
    const std::vector<text::Splice> splices = {{{6}, {0}, "X\r\n"}};
    const Change change = change_made(Rope("0\n1\n2\nX\r\n4\n5\n6\n"), splices, 100);

    EXPECT_EQ(change.shown, (text::LineRange{{1}, {6}}));
    EXPECT_EQ(change.snippet, (Lines{"1", "2", "X", "4", "5"}));
}

TEST(Change, BetweenTwoTextsIsFromTheFirstToTheLastDifference) {
    EXPECT_EQ(change_between(Rope("a\nb\nc\n"), Rope("a\nX\nY\nc\n"), 100).changed,
              (text::LineRange{{1}, {3}}));
    EXPECT_EQ(change_between(Rope("a\nb\nc\n"), Rope("a\nc\n"), 100).changed,
              (text::LineRange{{1}, {1}}));
    EXPECT_EQ(change_between(Rope("a\n"), Rope("a\n"), 100).changed, (text::LineRange{{0}, {0}}));
    EXPECT_EQ(change_between(Rope(""), Rope("é\n"), 100).changed, (text::LineRange{{0}, {1}}));
    EXPECT_EQ(change_between(Rope("ä"), Rope("Ä"), 100).snippet, Lines{"Ä"});
    const std::string long_text(100'000, 'x');
    EXPECT_EQ(change_between(Rope(long_text + "\na\n" + long_text),
                             Rope(long_text + "\nb\n" + long_text), 100)
                  .changed,
              (text::LineRange{{1}, {2}}));
}

// --- Search
// ---------------------------------------------------------------------------------------

Finding found(std::string_view text, std::string_view query, FindOptions options = {}) {
    return find(Rope(text), *text::Query::compile(query, text::Match::regex), options);
}

// The text that a hit's offsets name in its line of this text.
std::string matched(std::string_view text, const Finding::Hit& hit) {
    for (std::size_t n = hit.line.n; n > 0; --n) text.remove_prefix(text.find('\n') + 1);
    const std::string_view rest = text.substr(utf8::prefix(text, hit.match_start).size());
    return std::string(utf8::prefix(rest, hit.match_end - hit.match_start));
}

TEST(Find, ReturnsLinesContextAndTheMatchesPlaceInItsLine) {
    const std::string text = "0\n1\n2\n3 é needle\n4\n5\n6\n";
    const Finding finding = found(text, "needle");

    ASSERT_EQ(finding.hits.size(), 1U);
    EXPECT_EQ(finding.hits[0].line.n, 3U);
    EXPECT_EQ(finding.hits[0].match_start, 4U);
    EXPECT_EQ(finding.hits[0].match_end, 10U);
    EXPECT_EQ(matched(text, finding.hits[0]), "needle");
    EXPECT_EQ(finding.hits[0].content, "1\n2\n3 é needle\n4\n5");
    EXPECT_EQ(finding.hits[0].content_begin.n, 1U);
    EXPECT_FALSE(finding.truncated);
}

TEST(Find, NoLineIsShownTwiceIfContextsMeet) {
    const std::string text = "0\nx1\n2\nx3\n4\n5\n6\n";
    const Finding finding = found(text, "x");

    ASSERT_EQ(finding.hits.size(), 2U);
    EXPECT_EQ(finding.hits[0].content, "0\nx1\n2");
    EXPECT_EQ(finding.hits[1].content, "x3\n4\n5");
    for (const Finding::Hit& hit : finding.hits) EXPECT_EQ(matched(text, hit), "x");
}

TEST(Find, EachPlaceInALineCounts) {
    const Finding finding = found("ab ab\n", "ab", {.context_lines = 0});

    ASSERT_EQ(finding.hits.size(), 2U);
    EXPECT_EQ(finding.hits[1].match_start, 3U);
    EXPECT_EQ(finding.hits[1].content, "ab ab");
}

TEST(Find, SaysWhenThereAreMore) {
    EXPECT_TRUE(found("x\nx\nx\n", "x", {.max_matches = 2}).truncated);
    EXPECT_EQ(found("x\nx\nx\n", "x", {.max_matches = 2}).hits.size(), 2U);
    EXPECT_FALSE(found("x\nx\n", "x", {.max_matches = 2}).truncated);
}

TEST(Find, ReportsALineThatIsCut) {
    const std::string long_line(11, 'y');
    for (const std::string& text :
         {std::string("yyyyyyyyyyx\n"), cat(long_line, "\nx\n"), cat("x\n", long_line, "\n")}) {
        EXPECT_TRUE(found(text, "x", {.columns = 10}).hits[0].cut) << text;
        EXPECT_FALSE(found(text, "x", {.columns = 11}).hits[0].cut) << text;
    }
}

TEST(Find, FindsNothingWithoutComplaint) {
    EXPECT_TRUE(found("a\n", "z").hits.empty());
    EXPECT_TRUE(found("", "z").hits.empty());
}

TEST(Find, AnEmptyMatchCountsOncePerLine) {
    EXPECT_EQ(found("aa\nbb\n", "x*").hits.size(), 2U);
}

TEST(Find, LineEndsAreNoPartOfALine) {
    EXPECT_EQ(found("a\r\nb\r\n", "a$").hits.size(), 1U);
    EXPECT_EQ(found("a\r\nb\r\n", "a$", {.context_lines = 1}).hits[0].content, "a\nb");
}

TEST(Find, ALongLineIsCutAroundItsMatch) {
    const std::string line = std::string(5000, 'a') + "needle" + std::string(5000, 'b');
    const Finding finding = found(line, "needle", {.columns = 100});

    EXPECT_EQ(finding.hits[0].content.size(), 100U);
    EXPECT_NE(finding.hits[0].content.find("needle"), std::string::npos);
    EXPECT_EQ(matched(line, finding.hits[0]), "needle");
}

TEST(Find, OffsetsOfALongMatchNameAllOfIt) {
    const std::string text = "é\né" + std::string(5000, 'a');
    const Finding finding = found(text, "a+", {.columns = 100});

    ASSERT_EQ(finding.hits.size(), 1U);
    EXPECT_EQ(matched(text, finding.hits[0]), std::string(5000, 'a'));
    EXPECT_EQ(finding.hits[0].match_start, 1U);
    EXPECT_EQ(finding.hits[0].match_end, 5001U);
}

TEST(Find, OffsetsOfManyMatchesInALongLineAreCountedOnce) {
    std::string line;
    for (int i = 0; i < 500'000; ++i) line += "éx";
    const Finding finding = found(line, "x", {.max_matches = 100'000, .columns = 20});

    ASSERT_EQ(finding.hits.size(), 100'000U);
    EXPECT_EQ(finding.hits.back().match_start, 199'999U);
}

}  // namespace
}  // namespace quire::edits
