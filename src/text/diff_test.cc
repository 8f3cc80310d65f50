#include "text/diff.h"

#include <chrono>
#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/utf8.h"
#include "text/sequence_diff.h"

namespace quire::text {
namespace {

std::string applied(std::string_view before, const std::vector<Splice>& splices) {
    std::string out;
    std::size_t at = 0;
    for (const Splice& splice : splices) {
        out.append(before.substr(at, splice.at.n - at)).append(splice.insert);
        at = splice.at.n + splice.erase.n;
    }
    return out.append(before.substr(at));
}

// The size of the smallest edit, by the textbook's table.
std::size_t fewest_edits(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    std::vector<std::size_t> above(b.size() + 1);
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::vector<std::size_t> row(b.size() + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            row[j + 1] = a[i] == b[j] ? above[j] + 1 : std::max(above[j + 1], row[j]);
        }
        above = row;
    }
    return a.size() + b.size() - 2 * above[b.size()];
}

std::size_t edits(const std::vector<Replaced>& parts) {
    std::size_t count = 0;
    for (const Replaced& part : parts)
        count += part.old_end - part.old_begin + part.new_end - part.new_begin;
    return count;
}

// Everything between the parts must be equal, or there is no telling what the parts are worth.
bool keeps_equals(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                  const std::vector<Replaced>& parts) {
    std::vector<std::uint32_t> out;
    std::size_t at = 0;
    const auto from = [](const auto& v, std::size_t i) {
        return v.begin() + static_cast<std::ptrdiff_t>(i);
    };
    for (const Replaced& part : parts) {
        if (part.old_begin < at) return false;
        out.insert(out.end(), from(a, at), from(a, part.old_begin));
        if (out.size() != part.new_begin) return false;
        out.insert(out.end(), from(b, part.new_begin), from(b, part.new_end));
        at = part.old_end;
    }
    out.insert(out.end(), from(a, at), a.end());
    return out == b;
}

TEST(SequenceDiff, MyersFindsTheFewestEditsAndHistogramATrueOne) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 engine(seed);
    for (int round = 0; round < 20000; ++round) {
        const std::uint32_t symbols = 1 + static_cast<std::uint32_t>(engine() % 6);
        std::vector<std::uint32_t> a(engine() % 14);
        std::vector<std::uint32_t> b(engine() % 14);
        for (auto& s : a) s = static_cast<std::uint32_t>(engine() % symbols);
        for (auto& s : b) s = static_cast<std::uint32_t>(engine() % symbols);

        const auto myers = myers_diff(a, b);
        ASSERT_TRUE(keeps_equals(a, b, myers));
        ASSERT_EQ(edits(myers), fewest_edits(a, b));
        ASSERT_TRUE(keeps_equals(a, b, myers_diff(a, b, 2))) << "beyond its budget";
        ASSERT_TRUE(keeps_equals(a, b, histogram_diff(a, b, symbols)));
    }
}

TEST(Diff, NamesTheLinesThatDiffer) {
    EXPECT_TRUE(diff_lines("a\nb\n", "a\nb\n").empty());
    EXPECT_EQ(diff_lines("a\nb\nc\n", "a\nx\ny\nc\n"),
              (std::vector<Hunk>{{{{1}, {2}}, {{1}, {3}}}}));
    EXPECT_EQ(diff_lines("", "a\n"), (std::vector<Hunk>{{{{0}, {0}}, {{0}, {1}}}}));
    EXPECT_EQ(diff_lines("a", "a\n"), (std::vector<Hunk>{{{{0}, {1}}, {{0}, {1}}}}));
}

TEST(Diff, AnchorsOnRareLinesNotOnBraces) {
    const char* before = "void f() {\n  one();\n}\n\nvoid h() {\n  three();\n}\n";
    const char* after =
        "void f() {\n  one();\n}\n\nvoid g() {\n  two();\n}\n\nvoid h() {\n  three();\n}\n";

    EXPECT_EQ(diff_lines(before, after).size(), 1U);
    EXPECT_EQ(diff_lines(before, after)[0].before.begin, diff_lines(before, after)[0].before.end);
}

TEST(Minimal, ChangesOneWordOfALine) {
    const auto splices =
        minimal_splices("one\nthe quick fox\nthree\n", "one\nthe slow fox\nthree\n");

    EXPECT_EQ(splices, (std::vector<Splice>{{{8}, {5}, "slow"}}));
}

TEST(Minimal, ReplacesAHunkWholeThatSharesLittle) {
    EXPECT_EQ(minimal_splices("a b c d\n", "a w x y z v\n").size(), 1U);
}

TEST(Minimal, KeepsLineEndsAndCharactersWhole) {
    EXPECT_EQ(minimal_splices("x = 1;\r\n", "x = 1;\n"), (std::vector<Splice>{{{6}, {2}, "\n"}}));
    // Ä and ä share their first byte.
    EXPECT_EQ(minimal_splices("\xC3\x84", "\xC3\xA4"),
              (std::vector<Splice>{{{0}, {2}, "\xC3\xA4"}}));
}

TEST(Fewest, EditsLettersAnywhere) {
    EXPECT_EQ(fewest_splices("abcdef", "abXYef"), (std::vector<Splice>{{{2}, {2}, "XY"}}));
    EXPECT_EQ(fewest_splices("b\xC3\xA4", "b\xC3\xA9"),
              (std::vector<Splice>{{{1}, {2}, "\xC3\xA9"}}));
    EXPECT_EQ(fewest_splices("hello world", "hallo wurld"),
              (std::vector<Splice>{{{1}, {1}, "a"}, {{7}, {1}, "u"}}));
    std::size_t erased = 0;
    for (const Splice& splice : fewest_splices("aaaa", "aa")) {
        erased += splice.erase.n;
        EXPECT_EQ(splice.insert, "");
    }
    EXPECT_EQ(erased, 2U);
    const std::string long_text(100'000, 'x');
    EXPECT_EQ(fewest_splices(long_text, long_text + "y"),
              (std::vector<Splice>{{{100'000}, {0}, "y"}}));
}

TEST(Minimal, RandomTextsBecomeEachOther) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 engine(seed);
    const char* words[] = {"a",         "b", " ", "\n", "foo", "\r\n", "é",
                           "e\xCC\x81", "ë", "😀", "{",  "\t",  "_x1"};
    for (int round = 0; round < 20000; ++round) {
        std::vector<std::string> pieces(engine() % 40);
        for (auto& piece : pieces) piece = words[engine() % 13];
        std::string before;
        for (const auto& piece : pieces) before += piece;
        for (std::size_t k = engine() % 4; k > 0; --k) {
            const auto at =
                pieces.begin() + static_cast<std::ptrdiff_t>(engine() % (pieces.size() + 1));
            if (engine() % 2 == 0 || at == pieces.end()) {
                pieces.insert(at, words[engine() % 13]);
            } else {
                pieces.erase(at);
            }
        }
        std::string after;
        for (const auto& piece : pieces) after += piece;

        ASSERT_EQ(applied(before, fewest_splices(before, after)), after);
        const auto splices = minimal_splices(before, after);
        ASSERT_EQ(applied(before, splices), after) << testing::PrintToString(before);
        ASSERT_EQ(splices.empty(), before == after);
        std::size_t end = 0;
        for (std::size_t i = 0; i < splices.size(); ++i) {
            ASSERT_TRUE(utf8::is_valid(splices[i].insert));
            ASSERT_TRUE(utf8::is_valid(before.substr(splices[i].at.n, splices[i].erase.n)));
            ASSERT_TRUE(i == 0 || splices[i].at.n > end) << "splices touch";
            end = splices[i].at.n + splices[i].erase.n;
        }
    }
}

TEST(Unified, MatchesTheOutputOfDiff) {
    EXPECT_EQ(unified_diff("a\n", "a\n"), "");
    EXPECT_EQ(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
              "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
    EXPECT_EQ(unified_diff("", "a\nb", {.from = "x", .to = "y"}),
              "--- x\n+++ y\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
    EXPECT_EQ(unified_diff("a\n", "a"),
              "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
    EXPECT_EQ(unified_diff("a\nb\nc\n", "b\nc\nd\n", {.context = 0}),
              "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n@@ -3,0 +3 @@\n+d\n");
}

// Lines that both texts have at their ends are skipped, and that changes no answer.
TEST(Diff, SkipsWhatBothTextsHaveAtTheirEnds) {
    std::mt19937_64 random(11);
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    const auto some_lines = [&](std::size_t count) {
        std::string out;
        for (std::size_t i = 0; i < count; ++i) out += cat(char('a' + below(3)), "\n");
        return out;
    };
    for (int round = 0; round < 3000; ++round) {
        const std::string head = some_lines(below(7));
        const std::string tail = some_lines(below(7)) + (below(3) == 0 ? "end" : "");
        const std::string before = head + some_lines(below(4)) + tail;
        const std::string after = head + some_lines(below(4)) + tail;
        std::string rebuilt;
        const auto old_lines = split_lines(before);
        const auto new_lines = split_lines(after);
        std::size_t at = 0;
        for (const Hunk& hunk : diff_lines(before, after)) {
            for (; at < hunk.before.begin.n; ++at) rebuilt += old_lines[at];
            at = hunk.before.end.n;
            for (std::size_t i = hunk.after.begin.n; i < hunk.after.end.n; ++i)
                rebuilt += new_lines[i];
        }
        for (; at < old_lines.size(); ++at) rebuilt += old_lines[at];
        ASSERT_EQ(rebuilt, after) << before;
        // With lots of context nothing is skipped, and the hunks are the same.
        const auto changed = [](const std::string& diff) {
            std::string out;
            for (const std::string_view line : split_lines(diff)) {
                if (line.starts_with('+') || line.starts_with('-')) out += line;
            }
            return out;
        };
        ASSERT_EQ(changed(unified_diff(before, after, {.from = "", .to = "", .context = 0})),
                  changed(unified_diff(before, after, {.from = "", .to = "", .context = 100})))
            << before << "to\n"
            << after;
    }
}

TEST(Diff, IsNeverLate) {
    std::mt19937_64 engine(1);
    const auto random_text = [&](std::size_t bytes, std::size_t symbols) {
        std::string text;
        while (text.size() < bytes)
            text += std::to_string(engine() % symbols) + (engine() % 4 == 0 ? "\n" : " ");
        return text;
    };
    struct Pair {
        std::string before, after;
    };
    const Pair pairs[] = {{random_text(8 << 20, 1000000), random_text(8 << 20, 1000000)},
                          {random_text(8 << 20, 5), random_text(8 << 20, 5)},
                          {random_text(2 << 20, 60), random_text(2 << 20, 60)}};
    for (const Pair& pair : pairs) {
        const auto begin = std::chrono::steady_clock::now();
        const auto splices = minimal_splices(pair.before, pair.after);
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - begin);
        EXPECT_EQ(applied(pair.before, splices), pair.after);
        RecordProperty("ms", static_cast<int>(ms.count()));
        printf("  %zu MiB in %d ms\n", pair.before.size() >> 20, static_cast<int>(ms.count()));
        // Generous: this runs under sanitizers and beside other tests. Quadratic work would take
        // hours.
        EXPECT_LT(ms.count(), 60'000);
    }
}

}  // namespace
}  // namespace quire::text
