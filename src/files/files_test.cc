#include <string>

#include <gtest/gtest.h>

#include "files/disk_state.h"
#include "files/form.h"
#include "files/reconcile.h"

namespace quire::files {
namespace {

TEST(Form, EveryTextSurvivesARoundTrip) {
    for (const std::string bytes :
         {"", "a", "a\n", "a\r\nb\r\n", "a\r\nb\nc\rd", "\xEF\xBB\xBF", "\xEF\xBB\xBF\x61\n",
          "\xEF\xBB\xBF\xEF\xBB\xBF\x61", "é\xE2\x80\xA8x\xC2\x85", "no newline"}) {
        const auto decoded = decode(bytes, "f");
        ASSERT_TRUE(decoded);
        EXPECT_EQ(encode(decoded->form, decoded->text), bytes);
    }
    EXPECT_EQ(decode("\xEF\xBB\xBF"
                     "a",
                     "f")
                  ->text,
              "a");
}

TEST(Form, BytesThatAreNoTextAreNamedWithTheirPlace) {
    for (const auto& [bytes, offset] :
         {std::pair(std::string("ab\0c", 4), 2), {"\xFF\xFE", 0}, {"ok\xC3", 2}}) {
        const auto decoded = decode(bytes, "f");
        ASSERT_FALSE(decoded);
        EXPECT_EQ(decoded.error().reason(), "binary_file");
        EXPECT_EQ(*decoded.error().details().find("offset"), Value(offset));
    }
}

TEST(DiskState, ReadsBackAndRefusesTruncatedBytes) {
    DiskState state;
    state.hash = fs::Hash::of("x");
    state.stamp = {1, 2, 3, -4, 5, true};
    state.form.bom = true;
    state.missing = true;
    state.version = {{7, 8}, {~0ULL - 1, 2'000'000'000}};
    const Bytes bytes = state.encode();

    const auto back = DiskState::decode(bytes);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->encode(), bytes);
    EXPECT_EQ(back->hash, state.hash);
    EXPECT_EQ(back->version, state.version);
    EXPECT_TRUE(back->missing && back->form.bom && back->stamp.settled);
    for (std::size_t size = 0; size < 58; ++size) {
        EXPECT_FALSE(DiskState::decode(
            Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))));
    }
}

TEST(Reconcile, ADocumentWithoutEditsTakesTheDisksText) {
    const Sides sides{"one\ntwo\n", "one\ntwo\n", "one\n2\n"};
    const Reconciled plan = reconcile(sides, text::Side::ours);
    EXPECT_EQ(plan.text, "one\n2\n");
    EXPECT_EQ(plan.ties, 0U);
    EXPECT_EQ(plan.disk_edit.size(), 1U);
    EXPECT_TRUE(plan.corrections(sides, "one\n2\n").empty());
}

TEST(Reconcile, ChangesOfDifferentLinesBothStand) {
    const Sides sides{"one\ntwo\nthree\n", "1\ntwo\nthree\n", "one\ntwo\n3\n"};
    const Reconciled plan = reconcile(sides, text::Side::ours);
    EXPECT_EQ(plan.text, "1\ntwo\n3\n");
    EXPECT_EQ(plan.ties, 0U);
    EXPECT_FALSE(plan.corrections(sides, "1\ntwo\nthree\n").empty());
}

TEST(Reconcile, IfBothChangedTheSameWordsOneSideIsShown) {
    const Sides sides{"one\n", "ours\n", "theirs\n"};
    const Reconciled ours = reconcile(sides, text::Side::ours);
    EXPECT_EQ(ours.text, "ours\n");
    EXPECT_EQ(ours.ties, 1U);
    EXPECT_EQ(reconcile(sides, text::Side::theirs).text, "theirs\n");
}

TEST(Reconcile, OfTwoInsertionsAtOnePlaceTheDisksComesFirst) {
    const Sides sides{"a\nz\n", "a\nours\nz\n", "a\ntheirs\nz\n"};
    const Reconciled plan = reconcile(sides, text::Side::ours);
    EXPECT_EQ(plan.ties, 0U);
    EXPECT_FALSE(plan.corrections(sides, "a\nours\ntheirs\nz\n").empty());
    EXPECT_TRUE(plan.corrections(sides, "a\ntheirs\nours\nz\n").empty());
    EXPECT_FALSE(plan.corrections(sides, "a\nours\nz\n").empty());
}

TEST(Reconcile, ACorrectionMovesWhatTheDiskInsertedAndNothingElse) {
    const Sides sides{"a\nz\n", "a\nours\nz\n", "a\none\ntwo\nz\n"};
    const Reconciled plan = reconcile(sides, text::Side::ours);

    const auto edits = plan.corrections(sides, "a\nours\none\ntwo\nz\n");

    ASSERT_EQ(edits.size(), 2U);
    EXPECT_EQ(edits[0], (std::vector<text::Splice>{{{7}, {8}, ""}}));
    EXPECT_EQ(edits[1], (std::vector<text::Splice>{{{2}, {0}, "one\ntwo\n"}}));
}

}  // namespace
}  // namespace quire::files
