#include "edits/text_change.h"

#include <random>

#include <gtest/gtest.h>

#include "text/diff.h"

namespace quire::edits {
namespace {

TextChange change(std::string_view before, std::string_view after) {
    return text_change(seq::Rope(before), seq::Rope(after));
}

// A reader's copy of a text, changed as it is told.
std::string applied(std::string text, const TextChange& change) {
    std::vector<std::string> lines;
    for (const std::string_view line : text::split_lines(text)) lines.emplace_back(line);
    for (auto edit = change.edits.rbegin(); edit != change.edits.rend(); ++edit) {
        const auto at = [&](std::size_t line) {
            return lines.begin() + static_cast<std::ptrdiff_t>(line);
        };
        lines.erase(at(edit->start), at(edit->end));
        lines.insert(at(edit->start), edit->content);
    }
    std::string out;
    for (const std::string& line : lines) out += line;
    return out + change.appended;
}

using Edits = std::vector<LineChange>;

TEST(TextChange, TextAtTheEndIsAppendedWhoeverPutItThere) {
    EXPECT_EQ(change("", "one").appended, "one");
    EXPECT_EQ(change("one", "one two").appended, " two");
    EXPECT_EQ(change("one", "one\ntwo\n").appended, "\ntwo\n");
    EXPECT_TRUE(change("one", "one\ntwo").edits.empty());
}

TEST(TextChange, EqualTextsHaveNone) {
    EXPECT_EQ(change("one\n", "one\n").appended, "");
    EXPECT_TRUE(change("one\n", "one\n").edits.empty());
}

TEST(TextChange, EditsAreWholeLinesOfTheTextBefore) {
    EXPECT_EQ(change("a\nb\nc\n", "a\nB\nc\n").edits, (Edits{{1, 2, "B\n"}}));
    EXPECT_EQ(change("a\nc\n", "a\nb\nc\n").edits, (Edits{{1, 1, "b\n"}}));
    EXPECT_EQ(change("a\nb\nc\n", "a\nc\n").edits, (Edits{{1, 2, ""}}));
    EXPECT_EQ(change("a\nb", "ab").edits, (Edits{{0, 2, "ab"}}));
    EXPECT_EQ(change("a\nb\n", "").edits, (Edits{{0, 2, ""}}));
    EXPECT_EQ(change("a\nb", "a\n").edits, (Edits{{1, 2, ""}}));
}

TEST(TextChange, DistantEditsStayApart) {
    EXPECT_EQ(change("1\n2\n3\n4\n5\n", "one\n2\n3\n4\nfive\n").edits,
              (Edits{{0, 1, "one\n"}, {4, 5, "five\n"}}));
}

TEST(TextChange, ALineEndOfTwoBytesIsNotCut) {
    EXPECT_EQ(change("a\r\nb\r\n", "a\r\nB\r\n").edits, (Edits{{1, 2, "B\r\n"}}));
    EXPECT_EQ(change("a\r\nb", "a\nb").edits, (Edits{{0, 1, "a\n"}}));
}

TEST(TextChange, AReaderWhoAppliesEachHoldsTheText) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    constexpr const char* kPieces[] = {"a", "\n", "\r\n", "b\nc", "é", "😀\n", "", "a\na\na\n"};
    seq::Rope text;
    std::string copy;
    for (int i = 0; i < 3000; ++i) {
        const seq::Rope before = text;
        for (std::size_t edits = below(3) + 1; edits > 0; --edits) {
            const std::size_t size = text.code_points().n;
            const std::size_t at = below(size + 1);
            text.erase({at}, {std::min(size - at, below(size > 3000 ? 1000 : 8))});
            text.insert({at}, kPieces[below(8)]);
        }
        if (below(20) == 0) text = seq::Rope(text.str());
        const TextChange made = text_change(before, text);
        ASSERT_TRUE(made.appended.empty() || made.edits.empty());
        copy = applied(std::move(copy), made);
        ASSERT_EQ(copy, text.str()) << "step " << i;
    }
}

}  // namespace
}  // namespace quire::edits
