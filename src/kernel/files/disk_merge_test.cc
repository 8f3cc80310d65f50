// An agent has an unsaved edit, another program writes the file, and then the file is read.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

// The text that is read in the end, and whether the file is in conflict.
struct AfterDisk {
    std::string text;
    bool conflict = false;
};

AfterDisk after_disk(const std::string& base, const std::string& find, const std::string& replace,
                     const std::string& disk) {
    FileOffice office;
    office.files.put("f", base);
    EXPECT_EQ(office.edit("f", find, replace), "ok");
    office.files.put("f", disk);
    std::string text = office.text("f");
    return {std::move(text), office.status("f").conflict};
}

TEST(DiskMerge, TouchingChangesAreNotGluedInWhateverOrderThePeersStand) {
    for (int run = 0; run < 16; ++run) {
        FileOffice office;
        for (int i = 0; i < run; ++i) office.rng.next();  // Other peers each time.
        office.files.put("f", "zero x\none y\n\nthree z\n");
        ASSERT_EQ(office.edit("f", "one y", "agent line\none y"), "ok");
        office.files.put("f", "zero x\nperson word\nthree z\n");

        EXPECT_EQ(office.text("f"), "zero x\nagent line\nperson word\nthree z\n");
    }
}

TEST(DiskMerge, AWordOfEachSideAtOnePlaceIsAConflict) {
    const AfterDisk after = after_disk("a x b\n", "x", "AGENT", "a PERSON b\n");

    EXPECT_EQ(after.text, "a AGENT b\n");
    EXPECT_TRUE(after.conflict);
}

TEST(DiskMerge, AnEditInALineThatTheDiskDeletedIsAConflictAndLeavesNoFragment) {
    const AfterDisk after =
        after_disk("a one\nb two\nc three\n", "b two", "AGENT b two", "a one\nc three\n");

    EXPECT_EQ(after.text, "a one\nAGENT b two\nc three\n");
    EXPECT_TRUE(after.conflict);
}

TEST(DiskMerge, LinesThatBothSidesInsertAppearOnce) {
    const AfterDisk after = after_disk("a\n", "a", "import os\na", "import os\nimport re\na\n");

    EXPECT_EQ(after.text, "import os\nimport re\na\n");
    EXPECT_FALSE(after.conflict);
}

TEST(DiskMerge, TheAgentsTextThatAPersonSavedWithOneMoreLineAppearsOnce) {
    const AfterDisk after =
        after_disk("a\nb\n", "b", "agent one\nagent two", "a\nagent one\nagent two\nperson\n");

    EXPECT_EQ(after.text, "a\nagent one\nagent two\nperson\n");
    EXPECT_FALSE(after.conflict);
}

TEST(DiskMerge, OfTwoInsertionsAtOnePlaceTheDisksComesFirst) {
    for (int run = 0; run < 16; ++run) {
        FileOffice office;
        for (int i = 0; i < run; ++i) office.rng.next();
        office.files.put("f", "a\nz\n");
        ASSERT_EQ(office.edit("f", "a\n", "a\nagent\n"), "ok");
        office.files.put("f", "a\ndisk\nz\n");

        EXPECT_EQ(office.text("f"), "a\ndisk\nagent\nz\n");
    }
}

// The demo found it: lines moved by a correction were the disk's from then on.
TEST(DiskMerge, AnAgentsLinesStayItsOwnWhereTheDiskInsertsAtTheSamePlace) {
    for (int run = 0; run < 16; ++run) {
        FileOffice office;
        for (int i = 0; i < run; ++i) office.rng.next();
        office.files.put("f", "a\n");
        ASSERT_EQ(office.append("f", "agent one\nagent two\n"), "ok");
        office.files.put("f", "a\ndisk one\ndisk two\ndisk three\n");
        ASSERT_EQ(office.text("f"), "a\ndisk one\ndisk two\ndisk three\nagent one\nagent two\n");

        const std::string id = office.read("f")->file.block_id;
        const auto undone = office.ask<Undone>([&](auto reply) {
            office.kernel->undo(FileOffice::as("ada"), id, UndoScope::own, false, std::move(reply));
        });

        ASSERT_TRUE(undone) << undone.error().message();
        EXPECT_EQ(office.text("f"), "a\ndisk one\ndisk two\ndisk three\n") << "run " << run;
    }
}

// An unsaved edit, then rules that do not allow it, then a change of the disk. The edit is out of the
// text, and comes back from the history once the rules allow it again.
TEST(DiskMerge, EditsOfAFileThatBecameReadOnlyStayInItsHistory) {
    const auto rules_of = [](policy::Permission permission) {
        return FileRules{policy::PathRules({rule("**", permission)})};
    };
    FileOffice office;
    office.gate->set_rules(rules_of(policy::Permission::read_write));
    office.files.put("f", "one\ntwo\nthree\n");
    ASSERT_EQ(office.edit("f", "one", "agent"), "ok");
    office.gate->set_rules(rules_of(policy::Permission::read_only));
    ASSERT_EQ(office.text("f"), "agent\ntwo\nthree\n");
    office.files.put("f", "one\ntwo\nTHREE\n");

    EXPECT_EQ(office.text("f"), "one\ntwo\nTHREE\n");
    EXPECT_FALSE(office.status("f").conflict);
    EXPECT_FALSE(office.status("f").dirty);
    const auto history = office.ask<FileHistory>([&](auto reply) {
        office.calls->history(FileOffice::as("ada"), "f", 10, "", std::move(reply));
    });
    ASSERT_TRUE(history);
    const std::vector<HistoryEntry>& versions = history->page.versions;
    EXPECT_EQ(versions.front().description,
              "disk, over edits that the rules do not allow any more");

    office.gate->set_rules(rules_of(policy::Permission::read_write));
    const auto back = office.ask<FileEdited>([&](auto reply) {
        office.calls->rollback(FileOffice::as("ada"), "f", versions[1].version_id,
                               std::move(reply));
    });
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(office.text("f"), "agent\ntwo\nthree\n");
    EXPECT_EQ(office.disk("f"), "one\ntwo\nTHREE\n");
}

}  // namespace
}  // namespace quire::kernel
