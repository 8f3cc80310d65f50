#include "edits/line_edit.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "edits/poem_for_test.h"

namespace quire::edits {
namespace {

constexpr auto kSequential = Coords::sequential;
constexpr auto kOriginal = Coords::original;

LineOp insert(std::size_t at, std::string content) {
    return InsertLines{{at}, std::move(content), {}};
}
LineOp erase(std::size_t begin, std::size_t end) {
    return DeleteLines{{{begin}, {end}}, {}};
}
LineOp replace(std::size_t begin, std::size_t end, std::string content) {
    return ReplaceLines{{{begin}, {end}}, std::move(content), {}};
}
LineOp replace(std::size_t begin, std::size_t end, std::string content, std::string expected) {
    return ReplaceLines{{{begin}, {end}}, std::move(content), std::move(expected)};
}
Plan edit(std::vector<LineOp> operations, Coords coords = kSequential) {
    return line_edits({.operations = std::move(operations), .coords = coords});
}

// --- Newlines
// -------------------------------------------------------------------------------------

struct NewlineRule {
    const char* text;
    LineOp op;
    const char* result;
};

TEST(LineEdit, KeepsTheNewlineRules) {
    const NewlineRule rules[] = {
        // Insert adds a terminator if the content lacks one.
        {"a\nb\n", insert(0, "x"), "x\na\nb\n"},
        {"a\nb\n", insert(1, "x\n"), "a\nx\nb\n"},
        {"a\nb\n", insert(2, "x"), "a\nb\nx\n"},
        {"a\nb\n", insert(1, "x\ny"), "a\nx\ny\nb\n"},
        {"a\nb\n", insert(1, "\n"), "a\n\nb\n"},
        // Into an empty block: verbatim.
        {"", insert(0, "x"), "x"},
        {"", insert(0, "x\n"), "x\n"},
        {"", insert(0, "x\r\ny"), "x\r\ny"},
        // At the end of a block with no final newline: one goes before, none after.
        {"a\nb", insert(2, "x"), "a\nb\nx"},
        {"a\nb", insert(2, "x\n"), "a\nb\nx\n"},
        {"a", insert(1, "x"), "a\nx"},
        {"a", insert(0, "x"), "x\na"},
        {"a\nb", insert(1, "x"), "a\nx\nb"},
        // Replace keeps a newline that is there, and adds one only where one was.
        {"a\nb\nc\n", replace(1, 2, "x"), "a\nx\nc\n"},
        {"a\nb\nc\n", replace(1, 2, "x\n"), "a\nx\nc\n"},
        {"a\nb\nc\n", replace(1, 2, "x\ny"), "a\nx\ny\nc\n"},
        {"a\nb", replace(1, 2, "x"), "a\nx"},
        {"a\nb", replace(1, 2, "x\n"), "a\nx\n"},
        {"a\nb", replace(0, 2, "x"), "x"},
        {"a\nb", replace(0, 1, "x"), "x\nb"},
        // "" deletes; an empty range inserts.
        {"a\nb\nc\n", replace(1, 2, ""), "a\nc\n"},
        {"a\nb\nc\n", replace(1, 1, "x"), "a\nx\nb\nc\n"},
        {"a\nb", replace(2, 2, "x"), "a\nb\nx"},
        // Delete takes exactly those bytes.
        {"a\nb", erase(1, 2), "a\n"},
        {"a\nb\n", erase(0, 1), "b\n"},
        {"a\nb\n", erase(0, 2), ""},
        {"a\nb\n", erase(1, 1), "a\nb\n"},
        {"a\n\n", erase(1, 2), "a\n"},
        // CRLF throughout: what is written becomes CRLF.
        {"a\r\nb\r\n", insert(1, "x\ny"), "a\r\nx\r\ny\r\nb\r\n"},
        {"a\r\nb\r\n", insert(2, "x\n"), "a\r\nb\r\nx\r\n"},
        {"a\r\nb\r\n", insert(0, "x"), "x\r\na\r\nb\r\n"},
        {"a\r\nb\r\n", insert(1, "x\r\n"), "a\r\nx\r\nb\r\n"},
        {"a\r\nb", insert(2, "x"), "a\r\nb\r\nx"},
        {"a\r\nb\r\n", replace(0, 1, "x\ny"), "x\r\ny\r\nb\r\n"},
        {"a\r\nb", replace(1, 2, "x\ny"), "a\r\nx\r\ny"},
        // Mixed: the neighbouring line's.
        {"a\r\nb\n", insert(1, "x"), "a\r\nx\r\nb\n"},
        {"a\r\nb\nc\n", insert(2, "x\r\ny"), "a\r\nb\nx\ny\nc\n"},
        {"a\nb\r\nc\n", replace(1, 2, "x\ny"), "a\nx\r\ny\r\nc\n"},
        // LF throughout: a "\r\n" that is written stays what it is.
        {"a\nb\n", insert(1, "x\r\n"), "a\nx\r\nb\n"},
        // A lone '\r' is text.
        {"a\rb\nc\n", insert(1, "x"), "a\rb\nx\nc\n"},
        {"a\rb", erase(0, 1), ""},
    };
    for (const NewlineRule& rule : rules) {
        EXPECT_EQ(outcome(rule.text, edit({rule.op})), rule.result)
            << "from " << testing::PrintToString(rule.text);
        EXPECT_EQ(outcome(rule.text, edit({rule.op}, kOriginal)), rule.result)
            << "original, from " << testing::PrintToString(rule.text);
    }
}

TEST(LineEdit, AnEmptyInsertIsRefused) {
    EXPECT_EQ(outcome("a\n", edit({insert(0, "")})), "empty_content");
    EXPECT_EQ(outcome("a\n", edit({replace(1, 1, "")})), "empty_content");
}

// --- Compare and set
// ------------------------------------------------------------------------------

TEST(LineEdit, ExpectedTextMayLackItsLastNewline) {
    for (const char* expected : {"b\nc\n", "b\nc", "b\r\nc\r\n"}) {
        EXPECT_EQ(outcome("a\nb\nc\nd\n", edit({replace(1, 3, "x", expected)})), "a\nx\nd\n")
            << expected;
        EXPECT_EQ(outcome("a\r\nb\r\nc\r\nd\r\n", edit({replace(1, 3, "x", expected)})),
                  "a\r\nx\r\nd\r\n")
            << expected;
    }
    EXPECT_EQ(outcome("a\nb", edit({replace(1, 2, "x", "b\n")})), "a\nx");
}

TEST(LineEdit, OtherDifferencesFromTheExpectedTextAreRefused) {
    for (const char* expected :
         {" b\nc\n", "b\nc ", "b\nc\n\n", "b", "b\nC", "", "b\n\nc", "\tb\nc", "b\nc\rx"}) {
        EXPECT_EQ(outcome("a\nb\nc\nd\n", edit({replace(1, 3, "x", expected)})), "content_mismatch")
            << expected;
    }
}

TEST(LineEdit, AnEmptyExpectedTextMatchesOneBlankLineButNotTwo) {
    EXPECT_EQ(outcome("a\n\nb\n", edit({replace(1, 2, "x", "")})), "a\nx\nb\n");
    EXPECT_EQ(outcome("a\n\n\nb\n", edit({replace(1, 3, "x", "")})), "content_mismatch");
    EXPECT_EQ(outcome("a\n\n\nb\n", edit({replace(1, 3, "x", "\n")})), "a\nx\nb\n");
}

TEST(LineEdit, AMismatchQuotesThePresentText) {
    const Error error = refusal("a\nb\nc\n", edit({insert(0, "x"), replace(1, 3, "y", "z")}));

    EXPECT_EQ(error.code(), Errc::conflict);
    EXPECT_EQ(error.details(), (Map{{"operation", 1},
                                    {"start_line", 1},
                                    {"end_line", 3},
                                    {"expected", "z"},
                                    {"actual", "a\nb\n"}}));
    EXPECT_NE(error.message().find("1\ta\n2\tb\n"), std::string::npos) << error.message();
}

TEST(LineEdit, AMismatchSaysWhenItQuotesAPart) {
    const std::string text = cat(std::string((64 << 10) - 1, 'a'), "é\n");
    const Error error = refusal(text, edit({replace(0, 1, "y", "z")}));

    EXPECT_EQ(*error.details().find("actual"), Value(text.substr(0, (64 << 10) - 1)));
    EXPECT_EQ(*error.details().find("actual_truncated"), Value(true));
    EXPECT_NE(error.message().find("read the block"), std::string::npos) << error.message();
}

TEST(LineEdit, AMismatchCountsFromOneWhereTheReaderDoes) {
    const Error error = refusal("a\nb\nc\n", line_edits({.operations = {replace(1, 3, "y", "z")},
                                                         .numbering = Numbering::one_inclusive}));

    EXPECT_EQ(*error.details().find("start_line"), Value(2));
    EXPECT_EQ(*error.details().find("end_line"), Value(3));
    EXPECT_NE(error.message().find("lines 2-3 differ"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("2\tb\n3\tc\n"), std::string::npos) << error.message();
}

TEST(LineEdit, DeleteAndInsertAreGuardedToo) {
    EXPECT_EQ(outcome("a\nb\n", edit({DeleteLines{{{0}, {1}}, "b"}})), "content_mismatch");
    EXPECT_EQ(outcome("a\nb\n", edit({DeleteLines{{{0}, {1}}, "a"}})), "b\n");
    EXPECT_EQ(outcome("a\nb\n", edit({InsertLines{{1}, "x", "b"}})), "content_mismatch");
    EXPECT_EQ(outcome("a\nb\n", edit({InsertLines{{1}, "x", "a"}})), "a\nx\nb\n");
    EXPECT_EQ(outcome("a\nb\n", edit({InsertLines{{2}, "x", "a\nb\n"}})), "a\nb\nx\n");
    EXPECT_EQ(outcome("a\nb\n", edit({InsertLines{{1}, "x", "z\na\n"}})), "content_mismatch");
    EXPECT_EQ(outcome("a\nb\n", edit({InsertLines{{0}, "x", ""}})), "x\na\nb\n");
    EXPECT_EQ(outcome("a\nb\n", edit({InsertLines{{0}, "x", "a"}})), "content_mismatch");
}

TEST(LineEdit, AStaleBaseVersionIsAConflict) {
    const auto at = [](std::uint64_t base) {
        return line_edits({.operations = {insert(0, "x")}, .base_version = base});
    };
    const Error error = refusal("a\n", at(6), 7);

    EXPECT_EQ(error.reason(), "version_conflict");
    EXPECT_EQ(error.details(), (Map{{"base", 6}, {"current", 7}}));
    EXPECT_EQ(outcome("a\n", at(7), 7), "x\na\n");
}

// --- Ranges
// ---------------------------------------------------------------------------------------

TEST(LineEdit, ALineBeyondTheEndIsRefusedNeverClamped) {
    const Error past = refusal("a\nb\n", edit({insert(3, "x")}));
    EXPECT_EQ(past.code(), Errc::out_of_range);
    EXPECT_EQ(past.reason(), "line_out_of_range");
    EXPECT_EQ(past.details(), (Map{{"operation", 0}, {"requested", 3}, {"max", 2}}));

    EXPECT_EQ(refusal("a\nb\n", edit({erase(1, 9)})).details(),
              (Map{{"operation", 0}, {"requested", 9}, {"max", 2}}));
    EXPECT_EQ(refusal("a\nb\n", edit({erase(5, 9)})).details(),
              (Map{{"operation", 0}, {"requested", 5}, {"max", 2}}));
    EXPECT_EQ(refusal("", edit({erase(0, 1)})).details(),
              (Map{{"operation", 0}, {"requested", 1}, {"max", 0}}));
    EXPECT_EQ(outcome("a\nb\n", edit({erase(2, 2)})), "a\nb\n");
}

TEST(LineEdit, CountedFromOneTheFirstLineThatIsNotThereIsNamed) {
    const auto from_one = [](std::size_t begin, std::size_t end) {
        return line_edits(
            {.operations = {replace(begin, end, "x")}, .numbering = Numbering::one_inclusive});
    };
    EXPECT_EQ(*refusal("a\nb\n", from_one(2, 3)).details().find("requested"), Value(3));
    EXPECT_EQ(*refusal("a\nb\n", from_one(2, 9)).details().find("requested"), Value(3));
    EXPECT_EQ(*refusal("a\nb\n", from_one(1, 9)).details().find("requested"), Value(9));
}

TEST(LineEdit, ABackwardRangeIsRefused) {
    const Error error = refusal("a\nb\nc\n", edit({erase(2, 1)}));

    EXPECT_EQ(error.reason(), "invalid_range");
    EXPECT_EQ(error.code(), Errc::invalid_argument);
}

// --- Batches
// --------------------------------------------------------------------------------------

TEST(LineEdit, InTurnEachSeesTheLinesAsTheOnesBeforeLeftThem) {
    EXPECT_EQ(outcome("a\nb\nc\n", edit({insert(0, "x"), erase(1, 2), replace(1, 2, "B")})),
              "x\nB\nc\n");
}

TEST(LineEdit, OriginalCoordsAllNameTheTextBeforeTheCall) {
    EXPECT_EQ(outcome("a\nb\nc\n",
                      edit({erase(2, 3), insert(0, "x"), replace(1, 2, "B\nBB")}, kOriginal)),
              "x\na\nB\nBB\n");
}

TEST(LineEdit, InsertsAtOneLineKeepTheirOrderAndStandBeforeIt) {
    EXPECT_EQ(
        outcome("a\nb\n", edit({replace(1, 2, "B"), insert(1, "x"), insert(1, "y")}, kOriginal)),
        "a\nx\ny\nB\n");
    EXPECT_EQ(outcome("a", edit({insert(1, "x"), insert(1, "y")}, kOriginal)), "a\nx\ny");
    // The text before the call has no final newline.
    EXPECT_EQ(outcome("a", edit({insert(1, "x\n"), insert(1, "y")}, kOriginal)), "a\nx\ny");
}

TEST(LineEdit, OverlappingEditsWithOriginalCoordsAreRefused) {
    const Error error = refusal("a\nb\nc\nd\n", edit({erase(0, 2), replace(1, 3, "x")}, kOriginal));
    EXPECT_EQ(error.reason(), "overlapping_operations");
    EXPECT_EQ(error.code(), Errc::invalid_argument);

    EXPECT_EQ(outcome("a\nb\nc\nd\n", edit({erase(0, 3), insert(1, "x")}, kOriginal)),
              "overlapping_operations");
    EXPECT_EQ(outcome("a\nb\nc\nd\n", edit({erase(0, 2), erase(0, 1)}, kOriginal)),
              "overlapping_operations");
    EXPECT_EQ(outcome("a\nb\nc\nd\n", edit({erase(0, 2), replace(2, 3, "x")}, kOriginal)),
              "x\nd\n");
    EXPECT_EQ(
        outcome("a\nb\nc\nd\n", edit({erase(1, 2), insert(1, "x"), insert(2, "y")}, kOriginal)),
        "a\nx\ny\nc\nd\n");
}

TEST(LineEdit, OneFailureRefusesTheWholeBatch) {
    const Error error = refusal("a\nb\n", edit({insert(0, "x"), erase(0, 1), insert(9, "y")}));

    EXPECT_EQ(error.reason(), "line_out_of_range");
    EXPECT_EQ(*error.details().find("operation"), Value(2));
}

TEST(LineEdit, AFailureSaysThatTheOtherCoordsWouldFit) {
    const auto batch = [](Coords coords) {
        return edit({insert(0, "x"), replace(1, 2, "B", "b")}, coords);
    };
    EXPECT_NE(refusal("a\nb\n", batch(kSequential)).message().find("With coords \"original\""),
              std::string::npos);
    EXPECT_EQ(outcome("a\nb\n", batch(kOriginal)), "x\na\nB\n");

    const auto other = [](Coords coords) {
        return edit({insert(0, "x"), replace(2, 3, "B", "b")}, coords);
    };
    EXPECT_NE(refusal("a\nb\n", other(kOriginal)).message().find("With coords \"sequential\""),
              std::string::npos);

    const Error neither = refusal("a\nb\n", edit({insert(0, "x"), replace(1, 2, "B", "z")}));
    EXPECT_EQ(neither.message().find("With coords"), std::string::npos);
}

TEST(LineEdit, ExpectedTextWithOriginalCoordsIsThatBeforeTheCall) {
    EXPECT_EQ(outcome("a\nb\n", edit({replace(0, 1, "A"), InsertLines{{1}, "x", "a"}}, kOriginal)),
              "A\nx\nb\n");
}

TEST(LineEdit, AnEditWithoutEffectHasNoSplices) {
    const auto planned = edit({replace(0, 1, "a"), erase(1, 1)})(seq::Rope("a\nb\n"), 1);

    EXPECT_TRUE(planned->splices.empty());
    EXPECT_TRUE(edit({})(seq::Rope("a\n"), 1)->splices.empty());
}

TEST(LineEdit, SplicesTouchNoMoreThanChanges) {
    const auto planned =
        edit({replace(0, 3, "one\ntwö\nthree\n")})(seq::Rope("one\ntw\xC3\xBC\nthree\n"), 1);

    ASSERT_EQ(planned->splices.size(), 1U);
    EXPECT_EQ(planned->splices[0], (text::Splice{{6}, {2}, "ö"}));
}

TEST(LineEdit, TextWrittenAndRemovedAgainIsNoChange) {
    EXPECT_TRUE(edit({insert(1, "x"), erase(1, 2)})(seq::Rope("a\nb\n"), 1)->splices.empty());
}

// With coords "original" the newline rules ask the text before the call, too.
TEST(LineEdit, ABatchOfOriginalLinesKeepsTheFinalNewlineOfTheTextBefore) {
    const auto original = [](std::string_view text, std::vector<LineOp> operations) {
        return outcome(text,
                       line_edits({.operations = std::move(operations), .coords = kOriginal}));
    };
    EXPECT_EQ(original("a\n", {insert(1, "x"), erase(0, 1)}), "x\n");
    EXPECT_EQ(original("a\r\n", {insert(1, "x"), erase(0, 1)}), "x\r\n");
    EXPECT_EQ(original("a\n", {insert(0, "x"), erase(0, 1)}), "x\n");
    EXPECT_EQ(original("a\nb", {insert(2, "x"), erase(1, 2)}), "a\nx");
    EXPECT_EQ(original("a\nb\nc", {insert(3, "e"), erase(2, 3)}), "a\nb\ne");
    EXPECT_EQ(original("a", {insert(1, "x"), insert(1, "y")}), "a\nx\ny");
    EXPECT_EQ(original("", {insert(0, "x"), insert(0, "y")}), "x\ny");
}

// --- Limits
// ---------------------------------------------------------------------------------------

TEST(LineEdit, TooMuchIsRefusedWithTheLimit) {
    const auto limited = [](std::string content) {
        return line_edits({.operations = {insert(1, std::move(content))},
                           .limits = {.block_bytes = 8, .operation_bytes = 6}});
    };
    EXPECT_EQ(refusal("a\n", limited("1234567")).details(), (Map{{"operation", 0}, {"limit", 6}}));
    EXPECT_EQ(refusal("a\n", limited("123456")).details(), (Map{{"operation", 0}, {"limit", 8}}));
    EXPECT_EQ(refusal("a\n", limited("123456")).reason(), "too_large");
    EXPECT_EQ(outcome("a\n", limited("12345")), "a\n12345\n");
}

TEST(LineEdit, BrokenUtf8IsRefused) {
    EXPECT_EQ(outcome("a\n", edit({insert(0, "\xFF")})), "invalid_utf8");
}

}  // namespace
}  // namespace quire::edits
