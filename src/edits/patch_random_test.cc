// Patches of random edits: our diffs, and those of diff and git where they are installed, against
// the text that was edited and against the program `patch`. Mutated patches never do harm, and a
// large text is patched in time.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "edits/patch_for_test.h"
#include "edits/splice_diff.h"
#include "text/diff.h"

namespace quire::edits {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) {
    return random() % limit;
}

// Lines with many repetitions, or all different. Some texts have other line ends, some no final
// newline.
struct RandomText {
    std::size_t words = 5;  // 0: all lines are different.
    bool crlf = false;
    std::size_t counter = 0;

    std::string line(Random& random) {
        std::string out = words == 0 ? "line " + std::to_string(counter++)
                                     : std::string(below(random, 3), ' ') + "w" +
                                           std::to_string(below(random, words));
        if (words != 0 && below(random, 6) == 0) out = "";
        if (words != 0 && below(random, 12) == 0) out = below(random, 2) == 0 ? "-- x" : "++ x";
        out += crlf && below(random, 3) != 0 ? "\r\n" : "\n";
        return out;
    }
};

using Lines = std::vector<std::string>;

std::string joined(const Lines& lines, bool open) {
    std::string out;
    for (const std::string& line : lines) out += line;
    while (open && !out.empty() && (out.back() == '\n' || out.back() == '\r')) out.pop_back();
    return out;
}

struct Edit {
    std::string before;
    std::string after;
};

Edit random_edit(Random& random, RandomText style) {
    Lines lines;
    const std::size_t size = below(random, 60);
    for (std::size_t i = 0; i < size; ++i) lines.push_back(style.line(random));
    Lines after = lines;
    const std::size_t edits = 1 + below(random, 5);
    for (std::size_t i = 0; i < edits; ++i) {
        const auto at = static_cast<std::ptrdiff_t>(below(random, after.size() + 1));
        const std::size_t left = after.size() - static_cast<std::size_t>(at);
        const auto gone = static_cast<std::ptrdiff_t>(std::min(left, below(random, 4)));
        after.erase(after.begin() + at, after.begin() + at + gone);
        for (std::size_t k = below(random, 4); k > 0; --k)
            after.insert(after.begin() + at, style.line(random));
    }
    return {joined(lines, below(random, 4) == 0), joined(after, below(random, 4) == 0)};
}

// A folder for what other programs read and write.
class Folder {
public:
    Folder() : path_("/tmp/quire_patch_" + std::to_string(getpid())) {
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    void write(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
    }
    std::string read(const std::string& name) const {
        std::ifstream file(path_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // The output of a command that runs in the folder.
    std::string run(const std::string& command) const {
        std::string out;
        const std::string line = "cd " + path_.string() + " && " + command + " 2>/dev/null";
        FILE* pipe = popen(line.c_str(), "r");
        char buffer[4096];
        while (const std::size_t got = fread(buffer, 1, sizeof(buffer), pipe))
            out.append(buffer, got);
        pclose(pipe);
        return out;
    }
    bool has(const std::string& program) const { return !run("command -v " + program).empty(); }

private:
    std::filesystem::path path_;
};

RandomText random_style(Random& random) {
    return {.words = below(random, 3) == 0 ? 0 : 1 + below(random, 6),
            .crlf = below(random, 3) == 0};
}

TEST(PatchRandom, OurDiffOfAnEditGivesTheEditedText) {
    for (std::uint64_t seed = 1; seed <= 6'000; ++seed) {
        Random random(seed);
        const Edit edit = random_edit(random, random_style(random));
        const std::string patch = text::unified_diff(
            edit.before, edit.after, {.from = "a/f", .to = "b/f", .context = 1 + below(random, 3)});
        if (patch.empty()) continue;
        ASSERT_EQ(patched(patch, edit.before), edit.after)
            << "seed " << seed << "\n" << edit.before << "---\n" << patch;
    }
}

TEST(PatchRandom, AMovedTextIsPatchedAtTheSameLines) {
    for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
        Random random(seed);
        const Edit edit = random_edit(random, {.words = 0});
        const std::string patch = text::unified_diff(edit.before, edit.after, {});
        if (patch.empty() || edit.before.empty()) continue;
        const std::string above = "moved\ndown\nby this\n";
        ASSERT_EQ(patched(patch, above + edit.before), above + edit.after) << "seed " << seed;
    }
}

// An envelope with the hunks of a unified diff.
std::string as_envelope(const std::string& patch) {
    std::string out = "*** Begin Patch\n*** Update File: f\n";
    const std::vector<FilePatch> files = parse_patch(patch).value();
    for (const PatchHunk& hunk : files.front().hunks) {
        out += "@@\n";
        for (const PatchLine& line : hunk.lines) {
            constexpr std::string_view kMarks = " -+";
            out += kMarks[static_cast<std::size_t>(line.mark)];
            out += line.text + "\n";
            if (!line.newline) out += "\\ No newline at end of file\n";
        }
    }
    return out + "*** End Patch\n";
}

TEST(PatchRandom, AnEnvelopeGivesTheEditedText) {
    for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
        Random random(seed);
        const Edit edit = random_edit(random, {.words = 0});
        const std::string patch = text::unified_diff(edit.before, edit.after, {});
        if (patch.empty() || edit.before.empty()) continue;
        ASSERT_EQ(patched(as_envelope(patch), edit.before), edit.after)
            << "seed " << seed << "\n" << as_envelope(patch);
    }
}

TEST(PatchRandom, WhatDiffAndGitWriteGivesTheEditedText) {
    const Folder folder;
    if (!folder.has("diff") || !folder.has("git")) GTEST_SKIP() << "diff and git are needed";
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Random random(seed);
        const Edit edit = random_edit(random, random_style(random));
        folder.write("before", edit.before);
        folder.write("after", edit.after);
        const std::string context = std::to_string(1 + below(random, 3));
        const std::string command =
            below(random, 2) == 0 ? "diff -U" + context + " before after"
                                  : "git diff --no-index --no-color -U" + context + " before after";
        const std::string patch = folder.run(command);
        if (patch.empty()) continue;
        ASSERT_EQ(patched(patch.substr(patch.find("@@ ")), edit.before), edit.after)
            << "seed " << seed << "\n" << patch;
    }
}

TEST(PatchRandom, CleanPatchesAreAppliedAsTheProgramPatchDoes) {
    const Folder folder;
    if (!folder.has("diff") || !folder.has("patch")) GTEST_SKIP() << "diff and patch are needed";
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        const Edit edit = random_edit(random, {.words = 1 + below(random, 30)});
        if (edit.before.empty() || edit.after.empty()) continue;
        folder.write("f", edit.before);
        folder.write("after", edit.after);
        const std::string patch = folder.run("diff -u f after");
        if (patch.empty()) continue;
        folder.write("p", patch);
        folder.run("patch --silent --binary f p");
        ASSERT_EQ(patched(patch.substr(patch.find("@@ ")), edit.before), folder.read("f"))
            << "seed " << seed << "\n" << patch;
    }
}

TEST(PatchRandom, AMutatedPatchAppliesWholeOrIsRefused) {
    std::size_t applied_count = 0;
    for (std::uint64_t seed = 1; seed <= 6'000; ++seed) {
        Random random(seed);
        const Edit edit = random_edit(random, random_style(random));
        std::string patch =
            text::unified_diff(edit.before, edit.after, {.from = "a/f", .to = "b/f"});
        if (patch.empty()) continue;
        if (below(random, 2) == 0) patch = as_envelope(patch);
        constexpr std::string_view kBytes = "\n\n +-@\\*\r0,9ax\t";
        for (std::size_t i = 1 + below(random, 3); i > 0 && !patch.empty(); --i) {
            const std::size_t at = below(random, patch.size());
            const std::size_t how = below(random, 3);
            if (how == 0) patch.erase(at, 1 + below(random, 8));
            if (how == 1) patch.insert(at, 1, kBytes[below(random, kBytes.size())]);
            if (how == 2) patch[at] = kBytes[below(random, kBytes.size())];
        }
        const auto files = parse_patch(patch);
        if (!files) continue;
        for (const FilePatch& file : *files) {
            const seq::Rope text(edit.before);
            const auto planned = plan_patch(file, text, Numbering::zero_half_open);
            if (!planned) {
                ASSERT_NE(planned.error().details().find("hunks"), nullptr) << "seed " << seed;
                continue;
            }
            ++applied_count;
            ASSERT_EQ(planned->hunks.size(), file.hunks.size());
            std::size_t free = 0;
            seq::Rope after(edit.before);
            for (const text::Splice& splice : planned->splices) {
                ASSERT_LE(free, splice.at.n) << "seed " << seed;
                free = splice.at.n + splice.erase.n;
                ASSERT_LE(free, edit.before.size()) << "seed " << seed;
            }
            for (auto at = planned->splices.rbegin(); at != planned->splices.rend(); ++at)
                after.splice(at->at, at->erase, at->insert);
            ASSERT_TRUE(utf8::is_valid(after.str()));
        }
    }
    EXPECT_GT(applied_count, 500U);
}

TEST(PatchRandom, TheDiffOfSplicesIsTheDiffOfTheTexts) {
    for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
        Random random(seed);
        const Edit edit = random_edit(random, {.words = below(random, 8)});
        const std::vector<text::Splice> splices = text::minimal_splices(edit.before, edit.after);
        const std::string diff =
            splice_diff(seq::Rope(edit.before), splices, {.from = "a/f", .to = "b/f"});
        ASSERT_EQ(diff.empty(), edit.before == edit.after);
        if (!diff.empty()) {
            ASSERT_EQ(patched(diff, edit.before), edit.after)
                << "seed " << seed << "\n" << edit.before << "---\n" << diff;
        }
    }
}

// Prints its figure.
TEST(PatchRandom, AThousandHunksInTenMegabytesTakeOnePass) {
    std::string before;
    std::string after;
    std::string patch;
    std::size_t number = 0;
    while (before.size() < 10'000'000) {
        const std::string unlike = "some words, number " + std::to_string(++number) + "\n";
        const std::string alike = "}\n\n";
        before += unlike + alike;
        after += unlike + alike;
        if (number % 200 != 0) continue;
        const std::string word = std::to_string(number) + "\n";
        before += "old " + word;
        after += "new " + word;
        patch += "@@ -" + std::to_string(3 * number) + ",4 +1,4 @@\n " + unlike + " }\n \n-old " +
                 word + "+new " + word;
    }
    const std::string moved = "one more\n" + before;
    const SystemClock clock;
    const std::int64_t begin = clock.steady_ms();
    const auto planned = plan_of(patch, moved);
    const std::int64_t took = clock.steady_ms() - begin;

    ASSERT_TRUE(planned) << planned.error().message();
    std::printf("  %zu hunks in %zu bytes: %d ms\n", planned->hunks.size(), moved.size(),
                static_cast<int>(took));
    EXPECT_GT(planned->hunks.size(), 800U);
    EXPECT_EQ(applied(moved, {planned->splices, {}}), "one more\n" + after);
    EXPECT_LT(took, 10'000);
}

// Every line is like every other, and every hunk is in many places.
TEST(PatchRandom, AmbiguousHunksInALongTextAreRefusedInTime) {
    std::string before;
    for (int i = 0; i < 1'000'000; ++i) before += "x\n";
    std::string patch = "--- f\n+++ f\n";
    for (int i = 0; i < 700; ++i) {
        patch += "@@ -5000000 +1 @@\n";
        for (int k = 0; k <= i; ++k) patch += " x\n";
        patch += "+y\n";
    }
    const SystemClock clock;
    const std::int64_t begin = clock.steady_ms();

    EXPECT_EQ(patched(patch, before), "<ambiguous_hunk>");

    EXPECT_LT(clock.steady_ms() - begin, 20'000);
}

}  // namespace
}  // namespace quire::edits
