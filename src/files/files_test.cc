#include <string>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "files/disk_state.h"
#include "files/form.h"
#include "files/reconcile.h"

namespace quire::files {
namespace {

// Bytes of a text in a form that a file might have.
std::string bytes_in(const Form& form, std::string_view text) {
    const auto bytes = encode(form, std::string(text), "f");
    EXPECT_TRUE(bytes) << bytes.error().message();
    return bytes ? *bytes : "";
}

TEST(Form, EveryTextSurvivesARoundTrip) {
    for (const std::string& bytes :
         {std::string(), std::string("a"), std::string("a\n"), std::string("a\r\nb\r\n"),
          std::string("a\r\nb\nc\rd"), std::string("\xEF\xBB\xBF"),
          std::string("\xEF\xBB\xBF\x61\n"), std::string("\xEF\xBB\xBF\xEF\xBB\xBF\x61"),
          std::string("é\xE2\x80\xA8x\xC2\x85"), std::string("no newline"),
          std::string("\xFF\xFE", 2), std::string("\xFF\xFE\x61\0\xAC\x20\n\0", 8),
          std::string("\xFE\xFF\0\x61\x20\xAC\xD8\x3D\xDE\0", 10)}) {
        const auto decoded = decode(bytes, "f");
        ASSERT_TRUE(decoded) << decoded.error().message();
        EXPECT_EQ(encode(decoded->form, decoded->text, "f"), bytes);
    }
    EXPECT_EQ(decode("\xEF\xBB\xBF"
                     "a",
                     "f")
                  ->text,
              "a");
    EXPECT_EQ(decode(std::string("\xFF\xFE\x61\0\xAC\x20\n\0", 8), "f")->text, "a€\n");
    EXPECT_EQ(decode(std::string("\xFE\xFF\0\x61\x20\xAC\xD8\x3D\xDE\0", 10), "f")->text, "a€😀");
}

TEST(Form, BytesThatAreNoTextAreNamedWithTheirPlace) {
    const std::string late_nul = std::string(9000, 'x') + std::string("\xE9\0", 2);
    const struct {
        std::string bytes;
        std::size_t offset;
        std::string_view reason;
    } cases[] = {
        {std::string("ab\0c", 4), 2, "binary_file"},
        {std::string("\xE9\0", 2), 1, "binary_file"},
        {std::string(20'000, 'x') + '\0', 20'000, "binary_file"},
        {late_nul, 9000, "unsupported_encoding"},
        {"ok\xC3", 2, "unsupported_encoding"},
        {"caf\xE9", 3, "unsupported_encoding"},
        {std::string("\xFF\xFE\x61\0\0\0", 6), 4, "binary_file"},
        {std::string("\xFF\xFE\x61\0\x62", 5), 4, "unsupported_encoding"},      // Half a unit.
        {std::string("\xFE\xFF\xD8\x3D\0\x61", 6), 2, "unsupported_encoding"},  // Half a pair.
    };
    for (const auto& [bytes, offset, reason] : cases) {
        const auto decoded = decode(bytes, "f");
        ASSERT_FALSE(decoded);
        EXPECT_EQ(decoded.error().reason(), reason);
        EXPECT_EQ(*decoded.error().details().find("offset"),
                  Value(static_cast<std::int64_t>(offset)));
    }
}

TEST(Form, ADeclaredEncodingIsReadAndWrittenBackInKind) {
    const struct {
        text::Charset charset;
        std::string bytes, text;
    } cases[] = {
        {text::Charset::latin_1, "caf\xE9\r\n", "café\r\n"},
        {text::Charset::iso_8859_15, "\xA4 5\n", "€ 5\n"},
        {text::Charset::windows_1252, "\x80\x93x\x94", "€“x”"},
        {text::Charset::utf_16le, std::string("a\0\xE9\0", 4), "aé"},
        {text::Charset::utf_16be, std::string("\0a\0\xE9", 4), "aé"},
        {text::Charset::shift_jis, "\x93\xFA\x96\x7B\n", "日本\n"},
        {text::Charset::koi8_r, "\xF0\xD2\xC9", "При"},
        {text::Charset::gb18030, "\xC4\xE3\xBA\xC3", "你好"},
    };
    for (const auto& [charset, bytes, text] : cases) {
        const auto decoded = decode(bytes, "f", charset);
        ASSERT_TRUE(decoded) << decoded.error().message();
        EXPECT_EQ(decoded->text, text);
        EXPECT_EQ(decoded->form, (Form{charset, false}));
        EXPECT_EQ(bytes_in(decoded->form, text), bytes);
    }
    // A mark and well-formed UTF-8 come first.
    EXPECT_EQ(decode("é", "f", text::Charset::latin_1)->form, Form());
    EXPECT_EQ(decode(std::string("\xFF\xFE\x61\0", 4), "f", text::Charset::latin_1)->form,
              (Form{text::Charset::utf_16le, true}));
}

TEST(Form, WhatCouldNotBeWrittenBackIsNotRead) {
    // 0x81 is no character of windows-1252, and Shift JIS has two codes for some characters.
    for (const auto& [charset, bytes] : {std::pair(text::Charset::windows_1252, "x\x81"),
                                         std::pair(text::Charset::shift_jis, "\xED\x40")}) {
        const auto decoded = decode(bytes, "f", charset);
        ASSERT_FALSE(decoded) << bytes_in(decoded->form, decoded->text);
        EXPECT_EQ(decoded.error().reason(), "unsupported_encoding");
        EXPECT_EQ(*decoded.error().details().find("encoding"), Value(name_of(charset)));
    }
    EXPECT_EQ(decode(std::string("\xE9\0", 2), "f", text::Charset::latin_1).error().reason(),
              "binary_file");
}

TEST(Form, ACharacterThatTheEncodingLacksIsNamed) {
    const auto bytes = encode({text::Charset::latin_1, false}, "one\nfive €\n", "f");

    ASSERT_FALSE(bytes);
    EXPECT_EQ(bytes.error().reason(), "unsupported_encoding");
    EXPECT_EQ(*bytes.error().details().find("character"), Value("€"));
    EXPECT_EQ(*bytes.error().details().find("line"), Value(2));
    EXPECT_NE(bytes.error().message().find("'€' (U+20AC)"), std::string::npos)
        << bytes.error().message();
    // Bytes that would pass for UTF-8 are not written either.
    EXPECT_EQ(encode({text::Charset::latin_1, false}, "Ã©", "f").error().reason(),
              "unsupported_encoding");
    EXPECT_EQ(encode({}, std::string("a\0", 2), "f").error().reason(), "binary_file");
}

// Random bytes in every declared encoding: each is refused or written back as it was.
TEST(Form, LoadingAndSavingChangesNoByteWhateverTheBytesAre) {
    SeededRng rng(20);
    std::size_t read = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes;
        const std::size_t size = rng.next() % 12;
        // Some begin like marked text, and most bytes are such that text comes about.
        if (const std::uint64_t mark = rng.next() % 8; mark < 3)
            bytes = mark == 0 ? "\xFF\xFE" : mark == 1 ? "\xFE\xFF" : "\xEF\xBB\xBF";
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint64_t kind = rng.next() % 4;
            bytes.push_back(kind == 0 ? static_cast<char>(rng.next())
                            : kind == 1 ? static_cast<char>(0x80 | rng.next() % 64)
                            : kind == 2 && round % 2 == 0 ? '\0'
                                        : static_cast<char>(' ' + rng.next() % 90));
        }
        std::optional<text::Charset> declared;
        if (round % 4 != 0)
            declared = kEvery<text::Charset>[rng.next() % kEvery<text::Charset>.size()];
        const auto decoded = decode(bytes, "f", declared);
        if (!decoded) continue;
        ++read;
        ASSERT_TRUE(utf8::is_valid(decoded->text));
        ASSERT_EQ(encode(decoded->form, decoded->text, "f"), bytes)
            << name_of(decoded->form.charset) << " in round " << round;
    }
    EXPECT_GT(read, 5'000U);
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
    EXPECT_EQ(back->form.charset, text::Charset::utf_8);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(DiskState::decode(
            Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))));
    }

    state.form.charset = text::Charset::big5;
    EXPECT_EQ(DiskState::decode(state.encode())->form, state.form);
    Bytes unknown = state.encode();
    unknown[2] = 255;
    EXPECT_FALSE(DiskState::decode(unknown));
}

Conflict a_conflict() {
    Conflict conflict;
    conflict.number = 7;
    conflict.kind = ConflictKind::lines;
    conflict.region = {Anchor{1, 2}, std::nullopt, Anchor{~0ULL, 5}};
    conflict.base = "base\n";
    conflict.agent = "agent\n";
    conflict.disk = "";
    conflict.disk_at = 12;
    conflict.actor = "agent:ada";
    conflict.since_ms = 1'700'000'000'000;
    conflict.base_version = {{1, 2}};
    conflict.agent_version = {{1, 3}, {2, 4}};
    conflict.disk_version = {{9, 1}};
    return conflict;
}

TEST(DiskState, KeepsItsConflicts) {
    DiskState state;
    state.hash = fs::Hash::of("x");
    state.last_conflict = 9;
    state.conflicts = {a_conflict()};
    state.settled = {{a_conflict(), 12, true}, {a_conflict(), 13}};
    state.version = {{7, 8}};
    const Bytes bytes = state.encode();

    const auto back = DiskState::decode(bytes);

    ASSERT_TRUE(back);
    EXPECT_EQ(back->conflicts, state.conflicts);
    EXPECT_EQ(back->settled, state.settled);
    EXPECT_EQ(back->last_conflict, 9U);
    EXPECT_EQ(back->conflicts[0].id(), "c7");
    EXPECT_TRUE(back->has_conflict());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(DiskState::decode(
            Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))));
    }
}

TEST(DiskState, AConflictWhoseSettlingIsUndoneIsOpenAgain) {
    const auto conflict = [](std::uint32_t number) {
        Conflict made = a_conflict();
        made.number = number;
        made.disk_at = number;
        return made;
    };
    DiskState state;
    state.conflicts = {conflict(2)};
    state.settled = {{conflict(1), 10}, {conflict(3), 11}};
    std::uint64_t undone = 0;
    const auto follow = [&] {
        return state.follow_undo([&](std::uint64_t version) { return version == undone; });
    };
    const auto open = [&] {
        std::vector<std::uint32_t> numbers;
        for (const Conflict& each : state.conflicts) numbers.push_back(each.number);
        return numbers;
    };

    EXPECT_FALSE(follow());
    undone = 10;
    EXPECT_TRUE(follow());
    EXPECT_EQ(open(), (std::vector<std::uint32_t>{1, 2}));
    EXPECT_FALSE(follow());
    undone = 11;
    EXPECT_TRUE(follow());
    EXPECT_EQ(open(), (std::vector<std::uint32_t>{2, 3}));
}

TEST(DiskState, AHeaderOfTheFormatBeforeIsRead) {
    ByteWriter old;
    old.byte(1);      // The format,
    old.byte(8 | 4);  // and the flags of a conflict and of a settled stamp.
    for (std::uint64_t number = 1; number <= 7; ++number) old.u64_le(number);
    old.u64_le(42);
    old.u32_le(3);

    const auto state = DiskState::decode(std::move(old).take());

    ASSERT_TRUE(state);
    EXPECT_EQ(state->version, (Version{{42, 3}}));
    EXPECT_TRUE(state->unlisted_conflict && state->has_conflict() && state->stamp.settled);
    EXPECT_TRUE(state->conflicts.empty());
}

TEST(DiskState, AHeaderWithACharsetAndNoConflictsIsRead) {
    ByteWriter old;
    old.byte(2);
    old.byte(1);  // With a byte order mark.
    old.byte(static_cast<std::uint8_t>(text::Charset::utf_16le));
    for (std::uint64_t number = 1; number <= 7; ++number) old.u64_le(number);
    old.u64_le(42);
    old.u32_le(3);

    const auto state = DiskState::decode(std::move(old).take());

    ASSERT_TRUE(state);
    EXPECT_EQ(state->form, (Form{text::Charset::utf_16le, true}));
    EXPECT_EQ(state->version, (Version{{42, 3}}));
    EXPECT_FALSE(state->has_conflict());
}

// An open conflict about the one line of a file.
Conflict open_on(const std::string& base, const std::string& agent, const std::string& disk,
                 std::size_t disk_at = 0) {
    Conflict conflict;
    conflict.number = 1;
    conflict.base = base;
    conflict.agent = agent;
    conflict.disk = disk;
    conflict.disk_at = disk_at;
    return conflict;
}

TEST(Reconcile, AFurtherChangeOfAnOpenConflictContinuesIt) {
    const std::vector<Conflict> open{open_on("two\n", "ours\n", "theirs\n", 4)};
    const Sides sides{"one\ntheirs\n", "one\nours\n", "one\nnew\nmore\n"};
    const Reconciled plan = reconcile(sides, {.open = open});
    ASSERT_EQ(plan.ties.size(), 1U);
    EXPECT_EQ(plan.base, "one\ntwo\n");
    EXPECT_EQ(plan.ties[0].base, "two\n");
    EXPECT_EQ(plan.ties[0].agent, "ours\n");
    EXPECT_EQ(plan.ties[0].disk, "new\nmore\n");
    EXPECT_EQ(plan.ties[0].disk_at, 4U);
    EXPECT_EQ(plan.ties[0].open, 0U);
}

TEST(Reconcile, AnOpenConflictStaysWhereTheDiskChangesElsewhere) {
    const std::vector<Conflict> open{open_on("two\n", "ours\n", "theirs\n", 4)};
    const Sides sides{"one\ntheirs\n-\nend\n", "one\nours\n-\nend\n",
                      "first\none\ntheirs\n-\nEND\n"};
    const Reconciled plan = reconcile(sides, {.open = open});
    EXPECT_EQ(plan.text, "first\none\nours\n-\nEND\n");
    ASSERT_EQ(plan.ties.size(), 1U);
    EXPECT_EQ(plan.ties[0].at, 10U);
    EXPECT_EQ(plan.ties[0].disk_at, 10U);
    EXPECT_EQ(plan.ties[0].open, 0U);
}

TEST(Reconcile, AnOpenConflictEndsWhereTheDiskAgreesOrTakesItsChangeBack) {
    const std::vector<Conflict> open{open_on("two\n", "ours\n", "theirs\n")};
    const Reconciled agreed = reconcile({"theirs\nx\n", "ours\nx\n", "ours\ny\n"}, {.open = open});
    EXPECT_EQ(agreed.text, "ours\ny\n");
    EXPECT_TRUE(agreed.ties.empty());
    const Reconciled withdrawn =
        reconcile({"theirs\nx\n", "ours\nx\n", "two\nx\n"}, {.open = open});
    EXPECT_EQ(withdrawn.text, "ours\nx\n");
    EXPECT_TRUE(withdrawn.ties.empty());
}

TEST(Reconcile, AFileThatIsNeverMergedHasOneConflictOfAllItsText) {
    const Sides sides{"a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n"};
    const Reconciled plan = reconcile(sides, {.whole = true});
    EXPECT_EQ(plan.text, "A\nb\nc\n");
    ASSERT_EQ(plan.ties.size(), 1U);
    EXPECT_EQ(plan.ties[0].kind, ConflictKind::whole);
    EXPECT_EQ(plan.ties[0].disk, "a\nb\nC\n");
    EXPECT_TRUE(reconcile({"a\n", "a\n", "b\n"}, {.whole = true}).ties.empty());
}

TEST(Reconcile, WhatWasAppendedComesAfterTheDisksText) {
    const Reconciled plan = reconcile({"a", "ab", "ac"}, {.keeps = Keeps::appended});
    EXPECT_EQ(plan.text, "ac\nb");
    EXPECT_TRUE(plan.ties.empty());
    EXPECT_FALSE(plan.is_edit_lost);
}

TEST(Reconcile, EditsThatTheRulesDoNotAllowGoOutOfTheText) {
    const Sides both{"a\nb\n", "a\nb\nours\n", "A\nb\n"};
    EXPECT_EQ(reconcile(both, {.keeps = Keeps::appended}).text, "A\nb\nours\n");
    EXPECT_EQ(reconcile(both, {.keeps = Keeps::nothing}).text, "A\nb\n");
    EXPECT_TRUE(reconcile(both, {.keeps = Keeps::nothing}).is_edit_lost);
    const Sides inside{"a\nb\n", "ours\nb\n", "a\nB\n"};
    const Reconciled appended = reconcile(inside, {.keeps = Keeps::appended});
    EXPECT_EQ(appended.text, "a\nB\n");
    EXPECT_TRUE(appended.is_edit_lost);
    EXPECT_FALSE(reconcile({"a\n", "a\n", "A\n"}, {.keeps = Keeps::nothing}).is_edit_lost);
}

TEST(Reconcile, ADocumentWithoutEditsTakesTheDisksText) {
    const Sides sides{"one\ntwo\n", "one\ntwo\n", "one\n2\n"};
    const Reconciled plan = reconcile(sides, {});
    EXPECT_EQ(plan.text, "one\n2\n");
    EXPECT_EQ(plan.ties.size(), 0U);
    EXPECT_EQ(plan.disk_edit.size(), 1U);
    EXPECT_TRUE(plan.corrections(sides, "one\n2\n").empty());
}

TEST(Reconcile, ChangesOfDifferentLinesBothStand) {
    const Sides sides{"one\ntwo\nthree\n", "1\ntwo\nthree\n", "one\ntwo\n3\n"};
    const Reconciled plan = reconcile(sides, {});
    EXPECT_EQ(plan.text, "1\ntwo\n3\n");
    EXPECT_EQ(plan.ties.size(), 0U);
    EXPECT_FALSE(plan.corrections(sides, "1\ntwo\nthree\n").empty());
}

TEST(Reconcile, IfBothChangedTheSameWordsOneSideIsShown) {
    const Sides sides{"one\n", "ours\n", "theirs\n"};
    const Reconciled ours = reconcile(sides, {});
    EXPECT_EQ(ours.text, "ours\n");
    EXPECT_EQ(ours.ties.size(), 1U);
    EXPECT_EQ(reconcile(sides, {.keeps = Keeps::nothing}).text, "theirs\n");
}

TEST(Reconcile, OfTwoInsertionsAtOnePlaceTheDisksComesFirst) {
    const Sides sides{"a\nz\n", "a\nours\nz\n", "a\ntheirs\nz\n"};
    const Reconciled plan = reconcile(sides, {});
    EXPECT_EQ(plan.ties.size(), 0U);
    EXPECT_FALSE(plan.corrections(sides, "a\nours\ntheirs\nz\n").empty());
    EXPECT_TRUE(plan.corrections(sides, "a\ntheirs\nours\nz\n").empty());
    EXPECT_FALSE(plan.corrections(sides, "a\nours\nz\n").empty());
}

TEST(Reconcile, ACorrectionMovesWhatTheDiskInsertedAndNothingElse) {
    const Sides sides{"a\nz\n", "a\nours\nz\n", "a\none\ntwo\nz\n"};
    const Reconciled plan = reconcile(sides, {});

    const auto edits = plan.corrections(sides, "a\nours\none\ntwo\nz\n");

    ASSERT_EQ(edits.size(), 2U);
    EXPECT_EQ(edits[0], (std::vector<text::Splice>{{{7}, {8}, ""}}));
    EXPECT_EQ(edits[1], (std::vector<text::Splice>{{{2}, {0}, "one\ntwo\n"}}));
}

}  // namespace
}  // namespace quire::files
