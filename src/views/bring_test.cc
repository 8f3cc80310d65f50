// Changes of one tree, brought into another: all of them or a tie, and the same the second time.
#include "views/bring.h"

#include <random>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "text/diff.h"

namespace quire::views {
namespace {

using files::ConflictKind;

Brought bring(std::optional<std::string_view> base, std::optional<std::string_view> from,
              std::optional<std::string_view> into) {
    return bring(Sides{base, from, into}, Manner{});
}

TEST(Bring, AChangeOfOneSideIsTakenAsItIs) {
    const Brought made = bring("a\n", "b\n", "a\n");
    EXPECT_EQ(made.text, "b\n");
    EXPECT_EQ(made.base, "b\n");
    EXPECT_TRUE(made.ties.empty());
    EXPECT_EQ(bring("a\n", "a\n", "b\n").text, "b\n");
    EXPECT_EQ(bring("a\n", "a\n", "b\n").base, "a\n");
}

TEST(Bring, ChangesOfBothSidesAreMerged) {
    const Brought made = bring("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n");
    EXPECT_EQ(made.text, "A\nb\nc\nD\n");
    EXPECT_EQ(made.base, "A\nb\nc\nd\n");
    EXPECT_TRUE(made.ties.empty());
}

TEST(Bring, ATieIsMetAgainAndTheRestIsNot) {
    const Brought made = bring("a\nb\nc\nd\ne\n", "a1\nb\nc\nd\ne1\n", "a\nb\nc\nd\ne2\n");
    EXPECT_EQ(made.text, "a1\nb\nc\nd\ne2\n");
    EXPECT_EQ(made.base, "a1\nb\nc\nd\ne\n");
    ASSERT_EQ(made.ties.size(), 1U);
    EXPECT_EQ(made.ties[0], (Tie{ConflictKind::lines, "e\n", "e1\n", "e2\n", 4}));

    const Brought again = bring(*made.base, "a1\nb\nc\nd\ne1\n", *made.text);
    EXPECT_EQ(again.text, made.text);
    EXPECT_EQ(again.base, made.base);
    EXPECT_EQ(again.ties, made.ties);
}

TEST(Bring, ATieEndsWhereOneSideTakesTheOthers) {
    const Brought made = bring("a\nb\nc\nd\ne\n", "a\nb\nc\nd\ne2\n", "a\nb\nc\nd\ne2\n");
    EXPECT_TRUE(made.ties.empty());
    EXPECT_EQ(made.base, "a\nb\nc\nd\ne2\n");
}

TEST(Bring, DeletionsMeetEditsAsTies) {
    EXPECT_EQ(bring("a\n", std::nullopt, "a\n").text, std::nullopt);
    const Brought kept = bring("a\n", std::nullopt, "b\n");
    EXPECT_EQ(kept.text, "b\n");
    EXPECT_EQ(kept.base, "a\n");
    ASSERT_EQ(kept.ties.size(), 1U);
    EXPECT_EQ(kept.ties[0].kind, ConflictKind::deletion);
    EXPECT_EQ(bring("a\n", "b\n", std::nullopt).text, std::nullopt);
    EXPECT_EQ(bring("a\n", "b\n", std::nullopt).ties.size(), 1U);
}

TEST(Bring, TwoTextsWithoutACommonOneAreNotBlended) {
    const Brought made = bring(std::nullopt, "a\n", "b\n");
    EXPECT_EQ(made.text, "b\n");
    EXPECT_EQ(made.base, std::nullopt);
    ASSERT_EQ(made.ties.size(), 1U);
    EXPECT_EQ(made.ties[0].kind, ConflictKind::whole);
}

TEST(Bring, TwoRewritesAreNotBlended) {
    const std::string base = "one\ntwo\nthree\nfour\n";
    const Brought made = bring(base, "un\ndeux\ntrois\nfour\n", "eins\nzwei\ndrei\nfour\n");
    ASSERT_EQ(made.ties.size(), 1U);
    EXPECT_EQ(made.ties[0].kind, ConflictKind::whole);
    EXPECT_EQ(made.text, "eins\nzwei\ndrei\nfour\n");
    EXPECT_EQ(bring(base, "un\ndeux\ntrois\nfour\n", "one\ntwo\nthree\nvier\n").text,
              "un\ndeux\ntrois\nvier\n");
}

TEST(Bring, AFileThatIsNeverMergedIsTakenWholeOrTied) {
    const Manner whole{.whole = true};
    EXPECT_EQ(bring(Sides{"a\nb\n", "A\nb\n", "a\nb\n"}, whole).text, "A\nb\n");
    EXPECT_EQ(bring(Sides{"a\nb\n", "A\nb\n", "a\nB\n"}, whole).ties.size(), 1U);
}

// Two trees and their common base, with edits on both sides, landings and refreshings at random: every
// word that was written stands in one of the trees at the end or in a tie, both trees agree where
// there is none, and what was brought once changes nothing the second time.
TEST(Bring, NoWordIsLostBetweenTwoTrees) {
    std::mt19937_64 random(7);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const int rounds = 400 / kRoundsShare;
    for (int round = 0; round < rounds; ++round) {
        std::string base;
        for (int line = 0; line < 12; ++line) base += "line " + std::to_string(line) + " stays\n";
        std::string tree = base, shared = base;
        int next = 0;
        std::vector<std::string> written;
        const auto insert = [&](std::string& text) {
            const auto lines = text::split_lines(text);
            const std::size_t at = below(lines.size() + 1);
            std::string out;
            const std::string word = "w" + std::to_string(next++) + "x";
            for (std::size_t i = 0; i <= lines.size(); ++i) {
                if (i == at) out += word + "\n";
                if (i < lines.size()) out += lines[i];
            }
            text = out;
            written.push_back(word);
        };
        for (int step = 0; step < 20; ++step) {
            switch (below(4)) {
                case 0:
                    insert(tree);
                    break;
                case 1:
                    insert(shared);
                    break;
                case 2: {
                    const Brought made =
                        bring(Sides{base, tree, shared}, {.first = text::Side::ours});
                    shared = *made.text;
                    base = *made.base;
                    const Brought again =
                        bring(Sides{base, tree, shared}, {.first = text::Side::ours});
                    ASSERT_EQ(again.text, shared);
                    break;
                }
                default: {
                    const Brought made =
                        bring(Sides{base, shared, tree}, {.first = text::Side::theirs});
                    tree = *made.text;
                    base = *made.base;
                    break;
                }
            }
        }
        const Brought land = bring(Sides{base, tree, shared}, {.first = text::Side::ours});
        const Brought refresh =
            bring(Sides{land.base, land.text, tree}, {.first = text::Side::theirs});
        ASSERT_TRUE(land.ties.empty());
        ASSERT_EQ(refresh.text, land.text) << "round " << round;
        for (const std::string& word : written)
            ASSERT_NE(land.text->find(word), std::string::npos) << word << " in round " << round;
    }
}

}  // namespace
}  // namespace quire::views
