#include "edits/patch.h"

#include <string>

#include <gtest/gtest.h>

#include "edits/patch_for_test.h"

namespace quire::edits {
namespace {

// A patch without a file's header, as a call on one block may send it.
std::string hunk(const std::string& lines) {
    return "@@ -1,3 +1,3 @@\n" + lines;
}
std::string envelope(const std::string& lines) {
    return "*** Begin Patch\n*** Update File: f\n" + lines + "*** End Patch\n";
}

FilePatch only_file(const std::string& patch) {
    Result<std::vector<FilePatch>> files = parse_patch(patch);
    if (!files) return {.name = "<" + files.error().reason() + ">"};
    EXPECT_EQ(files->size(), 1U);
    return std::move(files->front());
}
std::string parse_reason(const std::string& patch) {
    const auto files = parse_patch(patch);
    return files ? "ok" : files.error().reason();
}

constexpr std::string_view kPoem = "one\ntwo\nthree\nfour\nfive\n";

// --- places ---

TEST(Patch, AHunkGoesToItsNumberIfItIsThere) {
    EXPECT_EQ(patched("@@ -3,2 +3,2 @@\n a\n-b\n+B\n", "a\nb\na\nb\n"), "a\nb\na\nB\n");
}

TEST(Patch, AHunkWithAWrongNumberGoesToItsLines) {
    const auto planned = plan_of("@@ -90,3 +90,3 @@\n two\n-three\n+3\n four\n", kPoem);

    ASSERT_TRUE(planned);
    EXPECT_EQ(applied(kPoem, {planned->splices, {}}), "one\ntwo\n3\nfour\nfive\n");
    EXPECT_EQ(planned->hunks.at(0).applied_at.n, 2U);
    EXPECT_EQ(planned->hunks.at(0).fuzz, 0U);
}

TEST(Patch, AHunkThatOccursTwiceElsewhereIsRefusedWithItsPlaces) {
    const Error error = patch_refusal("@@ -9,2 +9,2 @@\n a\n-b\n+B\n", "a\nb\na\nb\n");

    EXPECT_EQ(error.reason(), "ambiguous_hunk");
    EXPECT_EQ(*error.details().find("lines"), Value(List{0, 2}));
}

TEST(Patch, PlacesAreToldInTheReadersNumbers) {
    const Error error = patch_refusal("@@ -9,2 +9,2 @@\n a\n-b\n+B\n", "a\nb\na\nb\n",
                                      Numbering::one_inclusive);

    EXPECT_EQ(*error.details().find("lines"), Value(List{1, 3}));
}

TEST(Patch, ANumberIsNotTrustedOnceAnEarlierHunkHasMoved) {
    const std::string text = "new\nfirst\na\nb\na\nb\n";

    EXPECT_EQ(patched("@@ -1 +1 @@\n-first\n+1st\n@@ -3,2 +3,2 @@\n a\n-b\n+B\n", text),
              "<ambiguous_hunk>");
    EXPECT_EQ(patched("@@ -2 +2 @@\n-first\n+1st\n@@ -3,2 +3,2 @@\n a\n-b\n+B\n", text),
              "new\n1st\na\nB\na\nb\n");
}

TEST(Patch, BlanksAtTheEndsOfLinesAreForgivenAndCounted) {
    const auto planned = plan_of(hunk(" one \n-two\n+2\n three\n"), "one\ntwo\t \nthree\n");

    ASSERT_TRUE(planned);
    EXPECT_EQ(applied("one\ntwo\t \nthree\n", {planned->splices, {}}), "one\n2\nthree\n");
    EXPECT_EQ(planned->hunks.at(0).fuzz, 2U);
}

TEST(Patch, ContextKeepsItsOwnBlanks) {
    EXPECT_EQ(patched(hunk(" one\n-two\n+2\n"), "one  \ntwo\n"), "one  \n2\n");
}

TEST(Patch, AnExactPlaceIsPreferredToALooseOne) {
    EXPECT_EQ(patched("@@ -9 +9 @@\n-a\n+b\n", "a \na\n"), "a \nb\n");
}

TEST(Patch, TwoLoosePlacesAreAmbiguousEvenAtTheNumber) {
    EXPECT_EQ(patched("@@ -1 +1 @@\n-a\n+b\n", "a \na\t\n"), "<ambiguous_hunk>");
}

TEST(Patch, IndentationIsNotForgiven) {
    EXPECT_EQ(patched(hunk("-two\n+2\n"), "one\n  two\n"), "<hunk_not_found>");
}

TEST(Patch, EveryHunkThatFailsIsTold) {
    const Error error = patch_refusal(
        "--- f\n+++ f\n@@ -1 +1 @@\n-none\n+x\n@@ -2 +2 @@\n-two\n+2\n@@ -9 +9 @@\n-a\n+b\n",
        "one\ntwo\na\na\n");

    EXPECT_EQ(error.reason(), "hunk_not_found");
    EXPECT_EQ(*error.details().find("hunks"),
              Value(List{Map{{"patch_line", 3}, {"reason", "hunk_not_found"}},
                         Map{{"patch_line", 9},
                             {"reason", "ambiguous_hunk"},
                             {"lines", List{2, 3}}}}));
}

TEST(Patch, ARefusalShowsTheMostSimilarLines) {
    const Error error = patch_refusal(hunk(" one\n-tw0\n+2\n three\n"), kPoem,
                                      Numbering::one_inclusive);

    EXPECT_EQ(error.reason(), "hunk_not_found");
    EXPECT_NE(error.message().find("1\tone\n2\ttwo\n3\tthree\n"), std::string::npos)
        << error.message();
}

TEST(Patch, AHunkWithoutContextIsRefusedUnlessTheTextIsEmpty) {
    EXPECT_EQ(patched("@@ -1,0 +2 @@\n+new\n", kPoem), "<ambiguous_hunk>");
    EXPECT_EQ(patched("@@ -0,0 +1 @@\n+new\n", ""), "new\n");
}

TEST(Patch, HunksMayShareContextButNotLines) {
    const std::string first = "@@ -1,2 +1,2 @@\n-one\n+1\n two\n";
    EXPECT_EQ(patched(first + "@@ -2,2 +2,2 @@\n two\n-three\n+3\n", kPoem),
              "1\ntwo\n3\nfour\nfive\n");
    EXPECT_EQ(patched(first + "@@ -1,2 +1,2 @@\n-one\n+I\n two\n", kPoem), "<invalid_patch>");
}

TEST(Patch, TheFirstChangedLineIsToldInTheNewText) {
    const auto planned = plan_of(
        "@@ -1,2 +1,4 @@\n one\n+a\n+b\n two\n@@ -4,2 +6,1 @@\n four\n-five\n", kPoem);

    ASSERT_TRUE(planned);
    EXPECT_EQ(planned->hunks.at(0).applied_at.n, 1U);
    EXPECT_EQ(planned->hunks.at(1).applied_at.n, 6U);
}

TEST(Patch, OnlyTheWordsThatChangeAreWritten) {
    const auto planned = plan_of(hunk("-a long line of old words\n+a long line of new words\n"),
                                 "a long line of old words\n");

    ASSERT_TRUE(planned);
    ASSERT_EQ(planned->splices.size(), 1U);
    EXPECT_EQ(planned->splices[0].insert, "new");
}

// --- the final newline ---

TEST(Patch, TheMarkerOfAMissingNewlineIsKeptExactly) {
    const std::string no = "\\ No newline at end of file\n";
    EXPECT_EQ(patched(hunk(" a\n-b\n" + no + "+c\n" + no), "a\nb"), "a\nc");
    EXPECT_EQ(patched(hunk(" a\n-b\n" + no + "+b\n"), "a\nb"), "a\nb\n");
    EXPECT_EQ(patched(hunk(" a\n-b\n+b\n" + no), "a\nb\n"), "a\nb");
    EXPECT_EQ(patched(hunk("-a\n+A\n b\n" + no), "a\nb"), "A\nb");
    EXPECT_EQ(patched(hunk(" a\n-b\n" + no + "+b\n+c\n" + no), "a\nb"), "a\nb\nc");
    EXPECT_EQ(patched(hunk("+c\n" + no), ""), "c");
}

TEST(Patch, AMarkedLineIsTheLastOfTheText) {
    EXPECT_EQ(patched(hunk("-b\n\\ No newline at end of file\n+c\n"), "a\nb\nd\n"),
              "<hunk_not_found>");
}

TEST(Patch, AForgottenMarkerIsFuzzAndTheTextKeepsItsEnd) {
    const auto planned = plan_of(hunk(" a\n-b\n+c\n"), "a\nb");

    ASSERT_TRUE(planned);
    EXPECT_EQ(applied("a\nb", {planned->splices, {}}), "a\nc");
    EXPECT_EQ(planned->hunks.at(0).fuzz, 1U);
    EXPECT_EQ(patched(hunk(" a\n b\n+c\n"), "a\nb"), "a\nb\nc");
}

TEST(Patch, AnEnvelopeKeepsTheEndOfTheText) {
    EXPECT_EQ(patched(envelope("@@\n a\n-b\n+c\n"), "a\nb"), "a\nc");
    EXPECT_EQ(patched(envelope("@@\n a\n-b\n+c\n"), "a\nb\n"), "a\nc\n");
    EXPECT_EQ(patched(envelope("@@\n b\n+c\n"), "a\nb"), "a\nb\nc");
    EXPECT_EQ(patched(envelope("@@\n b\n+c\n"), "a\nb\n"), "a\nb\nc\n");
}

// --- line ends ---

TEST(Patch, AWrittenLineHasTheLineEndsOfItsText) {
    EXPECT_EQ(patched(hunk(" a\n-b\n+c\n+d\n"), "a\r\nb\r\n"), "a\r\nc\r\nd\r\n");
    EXPECT_EQ(patched("@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n", "a\nb\n"), "a\nc\n");
}

TEST(Patch, LineEndsThatThePatchTellsAreWritten) {
    EXPECT_EQ(patched(hunk(" a\r\n-b\r\n+b\n"), "a\r\nb\r\n"), "a\r\nb\n");
    EXPECT_EQ(patched(hunk(" a\n-b\n+b\r\n"), "a\nb\n"), "a\nb\r\n");
}

TEST(Patch, ALoneCarriageReturnIsText) {
    EXPECT_EQ(patched(hunk("-a\rb\n+c\rd\n"), "a\rb\n"), "c\rd\n");
}

// --- what unified diffs look like ---

TEST(Patch, WrongCountsAreAcceptedWhereEveryLineFits) {
    for (const std::string counts : {"@@ -1,9 +1,9 @@", "@@ -1,1 +1,1 @@", "@@ -1 +1 @@", "@@",
                                     "@@ ... @@", "@@ -1,0 +1,7 @@"}) {
        EXPECT_EQ(patched(counts + "\n one\n-two\n+2\n three\n", kPoem),
                  "one\n2\nthree\nfour\nfive\n")
            << counts;
    }
}

TEST(Patch, AWrongCountDoesNotSwallowTheNextFile) {
    const auto files = parse_patch(
        "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n-one\n+1\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-two\n+2\n");

    ASSERT_TRUE(files);
    ASSERT_EQ(files->size(), 2U);
    EXPECT_EQ(files->at(1).name, "g");
}

TEST(Patch, LinesThatLookLikeAHeaderAreTakenByTheCounts) {
    EXPECT_EQ(patched("--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n--- b\n+++ c\n@@ -4 +4 @@\n-d\n+D\n",
                      "a\n-- b\nx\nd\n"),
              "a\n++ c\nx\nD\n");
}

TEST(Patch, AnEmptyLineIsContext) {
    EXPECT_EQ(patched(hunk(" one\n\n-two\n+2\n"), "one\n\ntwo\n"), "one\n\n2\n");
}

TEST(Patch, EmptyLinesBehindAHunkAreNotContext) {
    EXPECT_EQ(patched("@@ -1,2 +1,2 @@\n one\n-two\n+2\n\n\n", "one\ntwo\n"), "one\n2\n");
}

TEST(Patch, ALineThatLostItsMarkIsRefused) {
    EXPECT_EQ(patched(hunk(" one\n-two\n+2\nthree\n"), kPoem), "<invalid_patch>");
}

TEST(Patch, TheTextOfAMailIsPassedOver) {
    EXPECT_EQ(patched("From 12ab\nSubject: a poem\n\n- a list\n---\n f | 2 +-\n\n"
                      "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n"
                      "@@ -1,2 +1,2 @@ header\n one\n-two\n+2\n"
                      "-- \n2.39.2\n\n",
                      kPoem),
              "one\n2\nthree\nfour\nfive\n");
}

TEST(Patch, AFenceAroundThePatchIsPassedOver) {
    EXPECT_EQ(patched("```diff\n--- f\n+++ f\n@@ -1 +1 @@\n-one\n+1\n```\n", "one\n"), "1\n");
}

TEST(Patch, GitsNamesLoseTheirPrefixes) {
    const FilePatch file = only_file("--- a/dir/f\n+++ b/dir/f\n@@ -1 +1 @@\n-a\n+b\n");

    EXPECT_EQ(file.name, "dir/f");
    EXPECT_EQ(file.action, PatchAction::update);
    EXPECT_EQ(only_file("--- f.orig\t2020\n+++ f\t2021\n@@ -1 +1 @@\n-a\n+b\n").name, "f");
    EXPECT_EQ(only_file("--- old/d/f\n+++ new/d/f\n@@ -1 +1 @@\n-a\n+b\n").name, "d/f");
    EXPECT_EQ(only_file("--- ./f\n+++ ./f\n@@ -1 +1 @@\n-a\n+b\n").name, "f");
    EXPECT_EQ(only_file("--- x\n+++ y\n@@ -1 +1 @@\n-a\n+b\n").name, "");
    EXPECT_EQ(only_file("--- a/a/f\n+++ b/a/f\n@@ -1 +1 @@\n-a\n+b\n").name, "a/f");
}

TEST(Patch, QuotedNamesAreUnquoted) {
    EXPECT_EQ(only_file("--- \"a/\\303\\244 \\\"x\\\"\\t\"\n+++ \"b/\\303\\244 \\\"x\\\"\\t\"\n"
                        "@@ -1 +1 @@\n-a\n+b\n")
                  .name,
              "ä \"x\"\t");
    EXPECT_EQ(parse_reason("--- \"a/f\n+++ \"b/f\n@@ -1 +1 @@\n-a\n+b\n"), "invalid_patch");
}

TEST(Patch, FilesAreCreatedDeletedAndMoved) {
    const FilePatch made = only_file("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
    EXPECT_EQ(made.action, PatchAction::create);
    EXPECT_EQ(made.name, "f");
    const FilePatch gone = only_file("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
    EXPECT_EQ(gone.action, PatchAction::erase);
    EXPECT_EQ(gone.name, "f");
    const FilePatch moved = only_file(
        "diff --git a/f b/g h\nsimilarity index 100%\nrename from f\nrename to g h\n");
    EXPECT_EQ(moved.name, "f");
    EXPECT_EQ(moved.new_name, "g h");
    const FilePatch empty =
        only_file("diff --git a/a b b/a b\nnew file mode 100644\nindex 000..e69de29\n");
    EXPECT_EQ(empty.action, PatchAction::create);
    EXPECT_EQ(empty.name, "a b");
}

TEST(Patch, TheHeaderBehindAMoveWithoutHunksIsTheNextFiles) {
    const auto files = parse_patch(
        "diff --git a/f b/g\nrename from f\nrename to g\n--- a/h\n+++ b/h\n@@ -1 +1 @@\n-a\n+b\n");

    ASSERT_TRUE(files) << files.error().message();
    ASSERT_EQ(files->size(), 2U);
    EXPECT_EQ(files->at(0).new_name, "g");
    EXPECT_TRUE(files->at(0).hunks.empty());
    EXPECT_EQ(files->at(1).name, "h");
}

TEST(Patch, ADeletionHasAllLinesOfTheFile) {
    const std::string patch = "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
    EXPECT_EQ(patched(patch, "a\n"), "");
    EXPECT_EQ(patched(patch, "a\nb\n"), "<hunk_not_found>");
}

TEST(Patch, WhatNoPatchCanDoIsRefused) {
    EXPECT_EQ(parse_reason("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"),
              "invalid_patch");
    EXPECT_EQ(parse_reason("diff --git a/f b/f\nnew file mode 120000\n--- /dev/null\n+++ b/f\n"
                           "@@ -0,0 +1 @@\n+x\n"),
              "invalid_patch");
    EXPECT_EQ(parse_reason("diff --git a/f b/f\nBinary files a/f and b/f differ\n"),
              "invalid_patch");
    EXPECT_EQ(parse_reason("diff --git a/f b/g\ncopy from f\ncopy to g\n"), "invalid_patch");
    EXPECT_EQ(parse_reason("*** f\n--- f\n***************\n*** 1 ****\n! a\n"), "invalid_patch");
    EXPECT_EQ(parse_reason("@@@ -1 -1 +1 @@@\n- a\n"), "invalid_patch");
    EXPECT_EQ(parse_reason("--- f\n+++ f\n"), "invalid_patch");
    EXPECT_EQ(parse_reason("a poem\n"), "invalid_patch");
    EXPECT_EQ(parse_reason(""), "invalid_patch");
    EXPECT_EQ(parse_reason(hunk(" a\n b\n")), "invalid_patch");
    EXPECT_EQ(parse_reason("@@ -1 +1\n-a\n+b\n"), "invalid_patch");
    EXPECT_EQ(parse_reason(hunk("-a\n\\ No newline at end of file\n-b\n")), "invalid_patch");
    EXPECT_EQ(parse_reason("--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"), "invalid_patch");
    EXPECT_EQ(parse_reason("@@ -1 +1 @@\n-\xff\n+b\n"), "invalid_utf8");
    EXPECT_EQ(parse_reason("@@ -1 +1 @@\n-a\n+" + std::string(1 << 20, 'b')), "too_large");
}

TEST(Patch, AnInvalidPatchSaysWhichLine) {
    const Error error = patch_refusal(hunk("-one\n+1\nthree\n"), kPoem);

    EXPECT_EQ(*error.details().find("patch_line"), Value(4));
}

// --- the envelope ---

TEST(Patch, AnEnvelopeNamesSeveralFiles) {
    const auto files = parse_patch(
        "*** Begin Patch\n*** Add File: a/new\n+one\n+\n+two\n*** Update File: old\n*** Move to: "
        "moved\n@@ def f():\n x\n-y\n+z\n\n*** Delete File: gone\n*** End Patch\n");

    ASSERT_TRUE(files) << files.error().message();
    ASSERT_EQ(files->size(), 3U);
    EXPECT_EQ(files->at(0).action, PatchAction::create);
    EXPECT_EQ(files->at(0).name, "a/new");
    EXPECT_EQ(files->at(0).hunks.at(0).lines.size(), 3U);
    EXPECT_EQ(files->at(1).new_name, "moved");
    EXPECT_EQ(files->at(1).hunks.at(0).headings, std::vector<std::string>{"def f():"});
    EXPECT_EQ(files->at(1).hunks.at(0).lines.size(), 3U);
    EXPECT_EQ(files->at(2).action, PatchAction::erase);
}

TEST(Patch, AHunkOfAnEnvelopeMustOccurOnce) {
    EXPECT_EQ(patched(envelope(" a\n-b\n+B\n"), "a\nb\nc\n"), "a\nB\nc\n");
    EXPECT_EQ(patched(envelope(" a\n-b\n+B\n"), "a\nb\na\nb\n"), "<ambiguous_hunk>");
}

constexpr std::string_view kClasses =
    "class A:\n  def f():\n    x = 1\n  def g():\n    x = 1\nclass B:\n  def f():\n    x = 1\n";

TEST(Patch, HeadingsSayWhichPlaceIsMeant) {
    EXPECT_EQ(patched(envelope("@@ def g():\n-    x = 1\n+    x = 2\n"), kClasses),
              "class A:\n  def f():\n    x = 1\n  def g():\n    x = 2\n"
              "class B:\n  def f():\n    x = 1\n");
    EXPECT_EQ(patched(envelope("@@ class B:\n@@   def f():\n-    x = 1\n+    x = 2\n"), kClasses),
              "class A:\n  def f():\n    x = 1\n  def g():\n    x = 1\n"
              "class B:\n  def f():\n    x = 2\n");
    EXPECT_EQ(patched(envelope("@@ def f():\n-    x = 1\n+    x = 2\n"), kClasses),
              "<ambiguous_hunk>");
    EXPECT_EQ(patched(envelope("@@ def h():\n-    x = 1\n+    x = 2\n"), kClasses),
              "<hunk_not_found>");
}

TEST(Patch, AHunkAtTheEndOfTheFileIsThere) {
    const std::string at_end = envelope("@@\n a\n-b\n+B\n*** End of File\n");
    EXPECT_EQ(patched(at_end, "a\nb\na\nb\n"), "a\nb\na\nB\n");
    EXPECT_EQ(patched(envelope("@@\n+c\n*** End of File\n"), "a\nb\n"), "a\nb\nc\n");
    EXPECT_EQ(patched(at_end, "a\nb\nc\n"), "<hunk_not_found>");
}

TEST(Patch, AnEnvelopeThatWasCutOffIsRefused) {
    EXPECT_EQ(parse_reason("*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n"), "invalid_patch");
    EXPECT_EQ(parse_reason(envelope("@@\n-a\n+b\nc\n")), "invalid_patch");
    EXPECT_EQ(parse_reason(envelope("")), "invalid_patch");
    EXPECT_EQ(parse_reason("*** Begin Patch\n*** End Patch\n"), "invalid_patch");
    EXPECT_EQ(parse_reason("*** Begin Patch\n*** Add File: f\nx\n*** End Patch\n"),
              "invalid_patch");
    EXPECT_EQ(parse_reason(envelope("@@\n-a\n+b\n") + "more\n"), "invalid_patch");
}

}  // namespace
}  // namespace quire::edits
