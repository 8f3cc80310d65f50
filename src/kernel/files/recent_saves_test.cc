// Programs that write over a save, from a text that they had read before it.
#include "kernel/files/recent_saves.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "kernel/files/disk_authors.h"
#include "kernel/files/file_office_for_test.h"
#include "text/diff.h"

namespace quire::kernel {
namespace {

constexpr const char* kOld = "one\ntwo\nthree\n";
constexpr const char* kOthers = "first of many\nsecond of many\nthird of many\nfourth of many\n";

// A file that ada has added four lines to and saved.
void save_edits(FileOffice& office) {
    office.files.put("f", kOld);
    ASSERT_EQ(office.append("f", kOthers), "ok");
    ASSERT_TRUE(office.save("f"));
}

TEST(RecentSaves, AProgramThatHadNotSeenTheSaveDoesNotTakeItAway) {
    FileOffice office;
    save_edits(office);
    office.files.put("f", cat("zero\n", kOld));

    EXPECT_EQ(office.text("f"), cat("zero\n", kOld, kOthers));
    EXPECT_EQ(office.disk("f"), cat("zero\n", kOld, kOthers));
    EXPECT_FALSE(office.status("f").dirty);
    EXPECT_FALSE(office.status("f").conflict);
}

TEST(RecentSaves, EditsThatAreNotSavedStayOutOfTheFile) {
    FileOffice office;
    save_edits(office);
    ASSERT_EQ(office.edit("f", "two", "TWO"), "ok");
    office.files.put("f", cat("zero\n", kOld));

    EXPECT_EQ(office.text("f"), cat("zero\none\nTWO\nthree\n", kOthers));
    EXPECT_EQ(office.disk("f"), cat("zero\n", kOld, kOthers));
    EXPECT_TRUE(office.status("f").dirty);
}

// The program writes in an encoding that does not have what was saved.
TEST(RecentSaves, WhatTheFileCannotHoldStaysInTheDocument) {
    FileOffice office;
    office.files.put("f", kOld);
    ASSERT_EQ(office.append("f", "\u6587 and some more\nand more\n"), "ok");
    ASSERT_TRUE(office.save("f"));
    office.declare("f", text::Charset::latin_1);
    office.files.put("f", cat("caf\xe9\n", kOld));

    EXPECT_EQ(office.text("f"), cat("caf\u00e9\n", kOld, "\u6587 and some more\nand more\n"));
    EXPECT_EQ(office.disk("f"), cat("caf\xe9\n", kOld));
    EXPECT_TRUE(office.status("f").dirty);
}

TEST(RecentSaves, TheSameWordsAreAConflict) {
    FileOffice office;
    office.files.put("f", kOld);
    ASSERT_EQ(office.append("f", kOthers), "ok");
    ASSERT_EQ(office.edit("f", "two", "agents"), "ok");
    ASSERT_TRUE(office.save("f"));
    office.files.put("f", "one\npersons\nthree\n");

    EXPECT_EQ(office.text("f"), cat("one\nagents\nthree\n", kOthers));
    EXPECT_EQ(office.disk("f"), "one\npersons\nthree\n");
    const auto conflicts = office.conflicts("f");
    ASSERT_EQ(conflicts.size(), 1U);
    EXPECT_EQ(conflicts[0].base, "two\n");
    EXPECT_EQ(conflicts[0].agent, "agents\n");
    EXPECT_EQ(conflicts[0].disk, "persons\n");
}

TEST(RecentSaves, AFileThatIsAsItWasBeforeIsARevert) {
    FileOffice office;
    save_edits(office);
    office.files.put("f", kOld);

    EXPECT_EQ(office.text("f"), kOld);
    EXPECT_EQ(office.disk("f"), kOld);
}

TEST(RecentSaves, WhoHasSeenTheSaveMayDeleteFromIt) {
    FileOffice office;
    save_edits(office);
    office.files.put("f", cat("zero\n", kOld, "first of many\nthird of many\nfourth of many\n"));

    EXPECT_EQ(office.text("f"),
              cat("zero\n", kOld, "first of many\nthird of many\nfourth of many\n"));
}

TEST(RecentSaves, WhoHasSeenTheSaveMayRewriteItsLines) {
    FileOffice office;
    office.files.put("f", kOld);
    ASSERT_EQ(office.edit("f", "two", "a longer line than it was"), "ok");
    ASSERT_TRUE(office.save("f"));
    office.files.put("f", "one\n2\nthree\n");

    EXPECT_EQ(office.text("f"), "one\n2\nthree\n");
    EXPECT_FALSE(office.status("f").conflict);
}

TEST(RecentSaves, AfterTwoSecondsTheDiskIsRight) {
    FileOffice office;
    save_edits(office);
    office.files.pass(RecentSaves::kWithinNs + 1);
    office.files.put("f", cat("zero\n", kOld));

    EXPECT_EQ(office.text("f"), cat("zero\n", kOld));
}

TEST(RecentSaves, TheTextBetweenTwoSavesIsFoundAmongMany) {
    FileOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("f", kOld);
    std::string read, all = kOld;
    for (int i = 0; i < 200; ++i) {
        const std::string line = cat("saved line ", i, "\n");
        ASSERT_EQ(office.append("f", line), "ok");
        all += line;
        if (i == 120) read = all;
    }
    office.files.put("f", cat("zero\n", read));

    EXPECT_EQ(office.text("f"), cat("zero\n", all));
    EXPECT_EQ(office.disk("f"), cat("zero\n", all));
}

// Adds `count` lines to a new file, one after the other, and saves each. Returns the text that the
// file had after the line `back`.
std::string save_lines(FileOffice& office, int count, int back) {
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("f", "first\n");
    std::string then, all;
    for (int i = 0; i < count; ++i) {
        const std::string line = cat("line ", i, "\n");
        EXPECT_EQ(office.edit("f", "first", cat(line, "first")), "ok");
        all += line;
        if (i == back) then = cat(all, "first\n");
    }
    return then;
}

// A rename can put back any of the files that saves have displaced.
TEST(RecentSaves, EachOfManySavedTextsIsARevert) {
    for (const int back : {0, 1, 77, 121, 198}) {
        FileOffice office;
        const std::string read = save_lines(office, 200, back);
        office.files.put("f", read);

        EXPECT_EQ(office.text("f"), read);
        EXPECT_EQ(office.disk("f"), read);
        EXPECT_FALSE(office.status("f").conflict);
    }
}

// A folder is renamed, so a file of it has the time of its own save, with later ones since.
TEST(RecentSaves, ATextWithTheTimeOfAnEarlierSaveIsARevert) {
    FileOffice office;
    const std::string read = save_lines(office, 20, 1);
    const std::int64_t since_second_save = 18;
    office.files.pass(-since_second_save - 1);
    office.files.put("f", read);
    office.files.pass(since_second_save + 1);

    EXPECT_EQ(office.text("f"), read);
    EXPECT_EQ(office.disk("f"), read);
}

// A line that stands more than once in a text; none where each is there once.
std::string repeated_line(const std::string& text) {
    std::set<std::string_view> seen;
    for (const std::string_view line : text::split_lines(text)) {
        if (!seen.insert(line).second) return std::string(line);
    }
    return "";
}

// Files of the past come back, as they were or with a line more, soon or late.
TEST(RecentSaves, NoLineComesOutTwice) {
    for (std::uint64_t trial = 0; trial < 200 / kRoundsShare; ++trial) {
        SCOPED_TRACE(cat("trial ", trial));
        FileOffice office;
        SeededRng rng(trial);
        office.files.put("f", "first\nlast\n");
        std::vector<std::string> past = {office.text("f")};
        for (int i = 0; i < 150; ++i) {
            const std::string line = cat("line ", i, "\n");
            switch (rng.next() % 8) {
                case 0:
                case 1:
                    office.edit("f", "first", cat(line, "first"));
                    break;
                case 2:
                    office.append("f", line);
                    break;
                case 3:
                    office.files.pass(static_cast<std::int64_t>(rng.next() % 400'000'000));
                    break;
                case 4: {
                    std::string text = past[rng.next() % past.size()];
                    if (rng.next() % 2 == 0) text.insert(rng.next() % 2 * text.size(), line);
                    const std::int64_t late =
                        rng.next() % 2 * static_cast<std::int64_t>(rng.next() % 3'000'000'000);
                    office.files.pass(-late);
                    office.files.put("f", text);
                    office.files.pass(late);
                    break;
                }
                default:
                    if (office.save("f")) past.push_back(office.disk("f"));
            }
            const std::string text = office.text("f");
            if (!office.conflicts("f").empty()) break;
            ASSERT_EQ(repeated_line(text), "") << "after event " << i << ":\n" << text;
            ASSERT_EQ(repeated_line(office.disk("f")), "") << "after event " << i;
        }
    }
}

TEST(RecentSaves, AChangeOfTheDiskBetweenIsKeptToo) {
    FileOffice office;
    office.files.put("f", kOld);
    ASSERT_EQ(office.append("f", kOthers), "ok");
    ASSERT_EQ(office.edit("f", "one", "agents"), "ok");
    ASSERT_TRUE(office.save("f"));
    office.files.put("f", cat("agents\ntwo\nthree\n", kOthers, "of another program\n"));
    ASSERT_EQ(office.text("f"), cat("agents\ntwo\nthree\n", kOthers, "of another program\n"));
    // The disk's peer has written since, so the conflict is found with another.
    office.files.put("f", "persons\ntwo\nthree\n");

    EXPECT_EQ(office.text("f"), cat("agents\ntwo\nthree\n", kOthers, "of another program\n"));
    EXPECT_EQ(office.conflicts("f").size(), 1U);
    office.restart();
    EXPECT_EQ(office.text("f"), cat("agents\ntwo\nthree\n", kOthers, "of another program\n"));
}

TEST(RecentSaves, FilesThatAreNeverMergedAreTheDisks) {
    FileOffice office;
    FileRules rules = *office.gate->rules();
    rules.never_merge.push_back(text::Glob::compile("f").value());
    office.gate->set_rules(std::move(rules));
    save_edits(office);
    office.files.put("f", cat("zero\n", kOld));

    EXPECT_EQ(office.text("f"), cat("zero\n", kOld));
}

// An agent changes a file with a tool of its own while it has edits there that are not saved.
TEST(RecentSaves, AnAgentsOwnToolDoesNotReuseTheNumbersOfItsEdits) {
    FileOffice office;
    office.files.put("f", kOld);
    ASSERT_EQ(office.edit("f", "one", "ONE"), "ok");
    office.gate->authors().expect({policy::ActorKind::agent, "ada"}, "1", {{"f"}});
    office.files.put("f", "one\ntwo\nTHREE\n");

    EXPECT_EQ(office.text("f"), "ONE\ntwo\nTHREE\n");
    office.restart();
    EXPECT_EQ(office.text("f"), "ONE\ntwo\nTHREE\n");
    EXPECT_EQ(office.disk("f"), "one\ntwo\nTHREE\n");
}

}  // namespace
}  // namespace quire::kernel
