#include "text/merge3.h"

#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace quire::text {
namespace {

// $SEED repeats a run.
unsigned merge_seed() {
    const char* given = std::getenv("SEED");
    return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                            : std::random_device{}();
}

Merged merge(std::string_view base, std::string_view ours, std::string_view theirs) {
    return merge3(base, ours, theirs, Side::ours, Side::theirs);
}

TEST(Merge3, ChangesOfDifferentLinesAreBothKept) {
    const Merged merged = merge("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n");

    EXPECT_EQ(merged.text, "A\nb\nc\nD\n");
    EXPECT_TRUE(merged.ties.empty());
}

TEST(Merge3, ChangesOfOneLineAreBothKeptIfTheyDoNotOverlap) {
    const Merged merged = merge("int timeout = 30; // seconds\n", "int timeout = 45; // seconds\n",
                                "int timeout = 30; // in seconds\n");

    EXPECT_EQ(merged.text, "int timeout = 45; // in seconds\n");
    EXPECT_TRUE(merged.ties.empty());
}

TEST(Merge3, TokensChangedDifferentlyOnBothSidesAreATie) {
    const Merged ours =
        merge3("timeout = 10\n", "timeout = 30\n", "timeout = 45\n", Side::ours, Side::ours);
    EXPECT_EQ(ours.text, "timeout = 30\n");
    ASSERT_EQ(ours.ties.size(), 1U);
    EXPECT_EQ(ours.ties[0].theirs, "timeout = 45\n");

    EXPECT_EQ(
        merge3("timeout = 10\n", "timeout = 30\n", "timeout = 45\n", Side::theirs, Side::ours).text,
        "timeout = 45\n");
}

TEST(Merge3, DifferentDigitsOfOneNumberAreATieToo) {
    EXPECT_EQ(merge("timeout = 10\n", "timeout = 30\n", "timeout = 15\n").text, "timeout = 30\n");
}

TEST(Merge3, AnEqualChangeOnBothSidesIsMadeOnce) {
    EXPECT_EQ(merge("a\n", "import os\na\n", "import os\na\n").text, "import os\na\n");
    EXPECT_EQ(merge("x = 1\ny\n", "x = 2\ny\n", "x = 2\nz\n").text, "x = 2\nz\n");
}

TEST(Merge3, TwoInsertsAtOneSpotBothStandInTheOrderAskedFor) {
    EXPECT_EQ(merge3("a\n", "a\nours\n", "a\ntheirs\n", Side::ours, Side::theirs).text,
              "a\ntheirs\nours\n");
    const Merged merged = merge3("a\n", "a\nours\n", "a\ntheirs\n", Side::ours, Side::ours);
    EXPECT_EQ(merged.text, "a\nours\ntheirs\n");
    EXPECT_TRUE(merged.ordered_freely);
    EXPECT_TRUE(merged.ties.empty());
}

TEST(Merge3, DeletingTextThatTheOtherEditsIsATie) {
    const Merged merged = merge("begin\n  x = 1\nend\n", "", "begin\n  x = 2\nend\n");

    EXPECT_EQ(merged.text, "");
    EXPECT_EQ(merged.ties.size(), 1U);
}

TEST(Merge3, ADeletedLineIsNotBroughtBackByAChangeBesideIt) {
    EXPECT_EQ(merge("a\nb\nc\n", "a\nc\n", "a\nb\nC\n").text, "a\nC\n");
}

// Random line edits on either side: what only one side changed is as that side has it, and edits
// with an untouched line between them never tie.
TEST(Merge3, DisjointEditsAlwaysBothStand) {
    const unsigned seed = merge_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 rng(seed);
    for (int round = 0; round < 3000; ++round) {
        const std::size_t count = 3 + rng() % 30;
        std::string base, ours, theirs, both;
        std::size_t last_owner = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string line = "line " + std::to_string(i) + " of the text\n";
            // Owners alternate only across an untouched line.
            const std::size_t owner = last_owner == 0 ? rng() % 3 : 0;
            last_owner = owner;
            std::string changed = line;
            if (owner != 0) {
                const auto what = rng() % 3;
                changed = what == 0   ? ""
                          : what == 1 ? "changed " + std::to_string(rng() % 100) + "\n"
                                      : line + "added " + std::to_string(rng() % 100) + "\n";
            }
            base += line;
            ours += owner == 1 ? changed : line;
            theirs += owner == 2 ? changed : line;
            both += changed;
        }
        const Merged merged = merge(base, ours, theirs);
        ASSERT_EQ(merged.text, both) << base << "---\n" << ours << "---\n" << theirs;
        ASSERT_TRUE(merged.ties.empty());
        ASSERT_EQ(merge(base, ours, base).text, ours);
        ASSERT_EQ(merge(base, base, theirs).text, theirs);
        ASSERT_EQ(merge(base, ours, ours).text, ours);
    }
}

// Any two edits: nothing but the order of touching inserts depends on which side is called ours,
// and every word that a side brought is in the text or in a tie.
TEST(Merge3, NoTextOfEitherSideIsLost) {
    const unsigned seed = merge_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 rng(seed);
    const auto mutate = [&](std::vector<std::string> lines, const std::string& mark, int& words) {
        for (auto edits = 1 + rng() % 4; edits > 0; --edits) {
            const std::size_t at = rng() % (lines.size() + 1);
            const std::string word = mark + std::to_string(words++);
            const auto where = lines.begin() + static_cast<std::ptrdiff_t>(at);
            switch (rng() % 3) {
                case 0:
                    lines.insert(where, word + "\n");
                    break;
                case 1:
                    if (at < lines.size()) {
                        *where = word + " " + *where;
                    } else {
                        lines.push_back(word + "\n");
                    }
                    break;
                case 2:
                    if (at < lines.size()) lines.erase(where);
                    break;
            }
        }
        std::string out;
        for (const std::string& line : lines) out += line;
        return out;
    };
    int ties = 0;
    for (int round = 0; round < 5000; ++round) {
        std::vector<std::string> lines;
        std::string base;
        for (std::size_t i = 0; i < 2 + rng() % 8; ++i) {
            lines.push_back("w" + std::to_string(rng() % 5) + " x" + std::to_string(i) + "\n");
            base += lines.back();
        }
        int words = 0;
        const std::string ours = mutate(lines, "A", words);
        const std::string theirs = mutate(lines, "B", words);

        const Merged merged = merge(base, ours, theirs);

        std::string kept = merged.text;
        for (const Tie& tie : merged.ties) kept += tie.ours + tie.theirs;
        ties += static_cast<int>(merged.ties.size());
        for (int word = 0; word < words; ++word) {
            for (const auto& [side, mark] : {std::pair(ours, "A"), {theirs, "B"}}) {
                const std::string token = mark + std::to_string(word);
                if (side.find(token) != std::string::npos) {
                    ASSERT_NE(kept.find(token), std::string::npos) << token << "\n"
                                                                   << base << "---\n"
                                                                   << ours << "---\n"
                                                                   << theirs << "---\n"
                                                                   << merged.text;
                }
            }
        }
    }
    EXPECT_GT(ties, 100);
}

}  // namespace
}  // namespace quire::text
