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
    for (std::size_t size = 0; size < 58; ++size) {
        EXPECT_FALSE(DiskState::decode(
            Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))));
    }

    state.form.charset = text::Charset::big5;
    EXPECT_EQ(DiskState::decode(state.encode())->form, state.form);
    Bytes unknown = state.encode();
    unknown[2] = 255;
    EXPECT_FALSE(DiskState::decode(unknown));
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
