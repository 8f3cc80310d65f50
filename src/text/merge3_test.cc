#include "text/merge3.h"

#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/test_directory.h"

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

// --- what was glued, doubled or half deleted before ---

TEST(Merge3, AnInsertionBesideAReplacedLineStandsWhole) {
    const Merged merged =
        merge("zero x\none y\n\nthree z\n", "zero x\nagent line\none y\n\nthree z\n",
              "zero x\nperson word\nthree z\n");

    EXPECT_EQ(merged.text, "zero x\nagent line\nperson word\nthree z\n");
    EXPECT_TRUE(merged.ties.empty());
}

TEST(Merge3, TwoWordsAreNeverMadeOne) {
    EXPECT_EQ(merge("one\n", "oneA\n", "oneB\n").ties.size(), 1U);
    EXPECT_EQ(merge("x one y\n", "x AGENT y\n", "x PERSON one y\n").ties.size(), 1U);
    EXPECT_EQ(merge("a\n", "a\nx", "a\ny").text, "a\ny\nx");
}

TEST(Merge3, AnEditInADeletedLineIsATie) {
    const Merged merged =
        merge("a one\nb two\nc three\n", "a one\nAGENT b two\nc three\n", "a one\nc three\n");

    EXPECT_EQ(merged.text, "a one\nAGENT b two\nc three\n");
    ASSERT_EQ(merged.ties.size(), 1U);
    EXPECT_EQ(merged.ties[0].theirs, "");
}

TEST(Merge3, LinesThatBothInsertAppearOnce) {
    EXPECT_EQ(merge("a\n", "import os\na\n", "import os\nimport re\na\n").text,
              "import os\nimport re\na\n");
    EXPECT_EQ(merge("a\n", "a\nx\nimport os\ny\n", "a\nz\nimport os\n").text,
              "a\nz\nx\nimport os\ny\n");
}

TEST(Merge3, AnEditThatTheOtherSideTookAndWentOnFromAppearsOnce) {
    const Merged merged = merge("a\nb\n", "a\nagent\n", "a\nagent\nand person\n");

    EXPECT_EQ(merged.text, "a\nagent\nand person\n");
    EXPECT_TRUE(merged.ties.empty());
    EXPECT_EQ(merge("a\nb\n", "a\nnew\nb\n", "a\nnew\nB\n").text, "a\nnew\nB\n");
}

TEST(Merge3, AnInsertionOnEachSideOfAReplacementStands) {
    EXPECT_EQ(merge("a\nb\nc\n", "a\nQ R S\nc\n", "a\nbefore\nb\nafter\nc\n").text,
              "a\nbefore\nQ R S\nafter\nc\n");
}

TEST(Merge3, ALineWithoutItsTerminatorIsNotJoinedWithTheNext) {
    EXPECT_EQ(merge("a\nb\n", "a\nb\nc\n", "a\nb").text, "a\nb\nc\n");
    EXPECT_EQ(merge("a\r\nb\r\n", "a\r\nb\r\nc\r\n", "a\r\nb").text, "a\r\nb\r\nc\r\n");
    EXPECT_EQ(merge("f(1);\n", "f(2);\n", "f(1);").text, "f(2);");
}

TEST(Merge3, AGroupOfManyTokensIsMergedInTime) {
    std::string base, ours, theirs;
    for (int i = 0; i < 200'000; ++i) {
        base += "w k ";
        ours += i % 2 == 0 ? "A k " : "w k ";
        theirs += i % 2 == 1 ? "B k " : "w k ";
    }

    EXPECT_TRUE(merge(base, ours, theirs).ties.size() <= 1);
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

// Lines are unique, so that both align them alike.
TEST(Merge3, WhereGitMergesWithoutConflictTheResultIsThatOfGit) {
    const unsigned seed = merge_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 rng(seed);
    const TestDirectory directory;
    const int rounds = std::getenv("QUIRE_LONG") != nullptr ? 5000 : 60;
    int clean = 0;
    for (int round = 0; round < rounds; ++round) {
        std::string base, ours, theirs;
        int fresh = 0;
        const auto edited = [&](const std::string& line) -> std::string {
            switch (rng() % 12) {
                case 0:
                    return "";
                case 1:
                    return cat("new ", fresh++, " ", rng() % 1000, "\n");
                case 2:
                    return cat(line, "added ", fresh++, " ", rng() % 1000, "\n");
                default:
                    return line;
            }
        };
        for (std::size_t i = 0; i < 3 + rng() % 40; ++i) {
            const std::string line = cat("line ", i, " of the text\n");
            base += line;
            ours += edited(line);
            theirs += edited(line);
        }
        directory.put("base", base);
        directory.put("ours", ours);
        directory.put("theirs", theirs);
        const int status = std::system(
            cat("cd '", directory.path(), "' && git merge-file -p ours base theirs > merged")
                .c_str());
        if (status != 0) continue;
        ++clean;
        const Merged merged = merge(base, ours, theirs);
        ASSERT_EQ(merged.text, directory.get("merged")) << base << "---\n"
                                                        << ours << "---\n"
                                                        << theirs;
        ASSERT_TRUE(merged.ties.empty());
    }
    EXPECT_GT(clean, rounds / 10);
}

// Any two edits: nothing but the order of touching inserts depends on which side is called ours,
// and every word that a side brought is in the text or in a tie.
TEST(KeepBoth, WordsOfBothSidesStandApart) {
    EXPECT_EQ(keep_both("a x b\n", "a AGENT b\n", "a PERSON b\n", Side::theirs),
              "a PERSON AGENT b\n");
    EXPECT_EQ(keep_both("a x b\n", "a AGENT b\n", "a PERSON b\n", Side::ours),
              "a AGENT PERSON b\n");
    EXPECT_EQ(keep_both("timeout = 10\n", "timeout = 30\n", "timeout = 45\n", Side::theirs),
              "timeout = 45 30\n");
    EXPECT_EQ(keep_both("two\n", "ours\n", "theirs\n", Side::theirs), "theirs ours\n");
}

TEST(KeepBoth, LinesOfBothSidesStandOneAfterTheOther) {
    EXPECT_EQ(keep_both("b two\n", "AGENT b two\n", "", Side::theirs), "AGENT b two\n");
    EXPECT_EQ(keep_both("a\nb\n", "x\ny\n", "x\nz", Side::theirs), "x\nz\ny\n");
}

TEST(KeepBoth, WhatCanBeMergedIs) {
    EXPECT_EQ(keep_both("a b c d e\n", "A b c d e\n", "a b c d E\n", Side::theirs), "A b c d E\n");
}

TEST(Merge3, ATieSaysWhereItStands) {
    const Merged merged =
        merge3("zero\none\n-\ntwo\nend\n", "zero\none\n-\nours\nend\n",
               "new\nlines\nzero\none\n-\ntheirs\nend\n", Side::ours, Side::theirs);
    ASSERT_EQ(merged.ties.size(), 1U);
    EXPECT_EQ(merged.text.substr(merged.ties[0].at.n), "ours\nend\n");
    EXPECT_EQ(merged.ties[0].theirs_at.n, 21U);
}

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
