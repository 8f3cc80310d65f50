// Files that are not UTF-8: read, edited and written back in kind, or refused.
#include <string>

#include <gtest/gtest.h>

#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

std::string utf16le(const std::string& ascii) {
    std::string out = "\xFF\xFE";
    for (const char c : ascii) out += {c, '\0'};
    return out;
}

TEST(FileEncodings, MarkedUtf16IsEditedAndWrittenBackInKind) {
    FileOffice office;
    office.files.put("w.txt", utf16le("one\r\ntwo\r\n"));

    EXPECT_EQ(office.text("w.txt"), "one\r\ntwo\r\n");
    EXPECT_FALSE(office.save("w.txt")->written);
    ASSERT_EQ(office.edit("w.txt", "two", "2"), "ok");
    ASSERT_TRUE(office.save("w.txt"));

    EXPECT_EQ(office.disk("w.txt"), utf16le("one\r\n2\r\n"));
    office.restart();
    office.files.put("w.txt", utf16le("1\r\n2\r\n"));
    EXPECT_EQ(office.text("w.txt"), "1\r\n2\r\n");
}

TEST(FileEncodings, ARuleNamesTheEncodingOfWhatIsNotUtf8) {
    FileOffice office;
    office.files.put("old/a.txt", "caf\xE9\n");
    office.files.put("old/b.txt", "café\n");
    EXPECT_EQ(office.text("old/a.txt"), "<unsupported_encoding>");
    office.declare("old/**", text::Charset::latin_1);

    EXPECT_EQ(office.text("old/a.txt"), "café\n");
    EXPECT_EQ(office.text("old/b.txt"), "café\n");
    for (const std::string path : {"old/a.txt", "old/b.txt"}) {
        ASSERT_EQ(office.edit(path, "café", "thé"), "ok");
        ASSERT_TRUE(office.save(path));
    }
    EXPECT_EQ(office.disk("old/a.txt"), "th\xE9\n");
    EXPECT_EQ(office.disk("old/b.txt"), "thé\n");

    // A document that has been read keeps its encoding when the rule is gone.
    office.declare("old/**", std::nullopt);
    office.restart();
    ASSERT_EQ(office.edit("old/a.txt", "thé", "né"), "ok");
    ASSERT_TRUE(office.save("old/a.txt"));
    EXPECT_EQ(office.disk("old/a.txt"), "n\xE9\n");
}

TEST(FileEncodings, ACharacterThatTheEncodingLacksIsNotSaved) {
    FileOffice office;
    office.files.put("old/a.txt", "caf\xE9\n");
    office.declare("old/**", text::Charset::latin_1);
    ASSERT_EQ(office.edit("old/a.txt", "café", "5 €"), "ok");

    const auto saved = office.save("old/a.txt");

    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().reason(), "unsupported_encoding");
    EXPECT_EQ(*saved.error().details().find("character"), Value("€"));
    EXPECT_EQ(office.disk("old/a.txt"), "caf\xE9\n");
    EXPECT_TRUE(office.status("old/a.txt").dirty);

    office.calls->set_save(SaveWhen::on_commit);
    EXPECT_EQ(office.edit("old/a.txt", "5", "6"), "unsupported_encoding");
    EXPECT_EQ(office.text("old/a.txt"), "5 €\n");
    EXPECT_EQ(office.edit("old/a.txt", "€", "é"), "ok");
    EXPECT_EQ(office.disk("old/a.txt"), "5 \xE9\n");
}

}  // namespace
}  // namespace quire::kernel
