// Files that an agent edits in the document while another program changes them on the disk.
#include "kernel/files/file_calls.h"

#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

// $SEED repeats a run.
unsigned seed_of_run() {
    const char* given = std::getenv("SEED");
    return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                            : std::random_device{}();
}

TEST(FileCalls, AFileIsOneBlockForEveryoneWhoOpensIt) {
    FileOffice office;
    office.files.put("a.txt", "one\ntwo\n");

    const auto first = office.read("a.txt");
    const auto second = office.read("./a.txt");

    ASSERT_TRUE(first) << first.error().message();
    EXPECT_EQ(first->file.path, "a.txt");
    EXPECT_EQ(second->file.block_id, first->file.block_id);
    EXPECT_EQ(second->file.version, 1U);
    EXPECT_EQ(first->text.info.kind, "file");
    EXPECT_EQ(office.text("a.txt"), "one\ntwo\n");
}

TEST(FileCalls, ARunOfAppendsIsOneStepOfUndoThoughTheFileLeftMemory) {
    FileOffice office;
    office.limits.resident_bytes = 1;
    office.restart();
    office.files.put("a.txt", "");
    office.files.put("b.txt", "other\n");
    for (const char* line : {"one\n", "two\n", "three\n"}) {
        ASSERT_EQ(office.append("a.txt", line), "ok");
        const std::size_t loads = office.store.loads();
        EXPECT_EQ(office.text("b.txt"), "other\n");
        EXPECT_EQ(office.text("a.txt").substr(0, 4), "one\n");
        EXPECT_GT(office.store.loads(), loads) << "each drives the other out";
    }
    EXPECT_EQ(office.kernel->status().live_documents, 1U);
    ASSERT_TRUE(office.ask<Undone>([&](auto reply) {
        office.calls->undo(FileOffice::as("ada"), "a.txt", {.actor = "agent:ada"},
                           std::move(reply));
    }));
    EXPECT_EQ(office.text("a.txt"), "");
}

TEST(FileCalls, LoadThenSaveIsTheIdentityOnBytes) {
    FileOffice office;
    for (const std::string bytes : {"", "a", "a\n", "a\r\nb\r\n", "a\r\nb\nc\rd", "\xEF\xBB\xBF",
                                    "\xEF\xBB\xBF"
                                    "a\r\n",
                                    "\xEF\xBB\xBF\xEF\xBB\xBF"
                                    "a",
                                    "é\xE2\x80\xA8x"}) {
        office.files.put("f", bytes);
        ASSERT_EQ(FileOffice::reason(office.read("f")), "ok");
        const auto saved = office.save("f");
        ASSERT_TRUE(saved) << saved.error().message();
        EXPECT_FALSE(saved->written);
        EXPECT_EQ(office.disk("f"), bytes);
    }
}

TEST(FileCalls, AnEditStaysInTheDocumentUntilItIsSavedAndKeepsTheRestAsItWas) {
    FileOffice office;
    office.files.put("f",
                     "\xEF\xBB\xBF"
                     "one\r\ntwo\r\nthree");

    EXPECT_EQ(office.edit("f", "two", "TWO"), "ok");
    EXPECT_EQ(office.disk("f"),
              "\xEF\xBB\xBF"
              "one\r\ntwo\r\nthree");
    EXPECT_TRUE(office.status("f").dirty);

    EXPECT_TRUE(office.save("f")->written);
    EXPECT_EQ(office.disk("f"),
              "\xEF\xBB\xBF"
              "one\r\nTWO\r\nthree");
    EXPECT_FALSE(office.status("f").dirty);
    EXPECT_EQ(office.status("f").disk, Disk::same);
}

TEST(FileCalls, ADiskChangeIsTakenInWhenTheFileIsNextUsed) {
    FileOffice office;
    office.files.put("f", "one\ntwo\n");
    EXPECT_EQ(office.text("f"), "one\ntwo\n");

    office.files.put("f", "one\n2\n");
    EXPECT_EQ(office.status("f").disk, Disk::changed);

    EXPECT_EQ(office.text("f"), "one\n2\n");
    EXPECT_EQ(office.status("f").disk, Disk::same);
    EXPECT_EQ(office.read("f")->file.version, 2U);
    EXPECT_FALSE(office.status("f").dirty);
}

TEST(FileCalls, EditsThatWereNeverSavedSurviveDiskChanges) {
    FileOffice office;
    office.files.put("f", "a\nb\nc\nd\ne\n");
    EXPECT_EQ(office.edit("f", "b", "agent b"), "ok");

    office.files.put("f", "a\nb\nc\ndisk d\ne\n");
    EXPECT_EQ(office.text("f"), "a\nagent b\nc\ndisk d\ne\n");
    // A second change from the disk's own side, with the agent's line still unsaved.
    office.files.put("f", "disk a\nb\nc\ndisk d\ne\n");
    EXPECT_EQ(office.text("f"), "disk a\nagent b\nc\ndisk d\ne\n");

    EXPECT_TRUE(office.save("f")->written);
    EXPECT_EQ(office.disk("f"), "disk a\nagent b\nc\ndisk d\ne\n");
}

TEST(FileCalls, AdditionsOfBothSidesAtOneSpotAreBothKept) {
    FileOffice office;
    office.files.put("f", "a\n");
    EXPECT_EQ(office.append("f", "agent\n"), "ok");

    office.files.put("f", "a\ndisk\n");

    const std::string text = office.text("f");
    EXPECT_TRUE(text == "a\nagent\ndisk\n" || text == "a\ndisk\nagent\n") << text;
}

TEST(FileCalls, AnEqualChangeOnBothSidesAppearsOnce) {
    FileOffice office;
    office.files.put("f", "a\nz\n");
    EXPECT_EQ(office.edit("f", "a\n", "import os\na\n"), "ok");
    EXPECT_EQ(office.edit("f", "z", "zz"), "ok");

    office.files.put("f", "import os\na\nz\n");

    EXPECT_EQ(office.text("f"), "import os\na\nzz\n");
}

TEST(FileCalls, IfBothChangedTheSameWordsTheAgentsTextShowsAndTheSaveAsksFirst) {
    FileOffice office;
    office.files.put("f", "timeout = 10\n");
    EXPECT_EQ(office.edit("f", "10", "30"), "ok");
    office.files.put("f", "timeout = 45\n");

    const auto first = office.save("f");
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().reason(), "disk_changed");
    EXPECT_EQ(office.disk("f"), "timeout = 45\n");
    EXPECT_EQ(office.text("f"), "timeout = 30\n");

    EXPECT_EQ(office.resolve("f", ConflictChoice::agent), "ok");
    EXPECT_TRUE(office.save("f"));
    EXPECT_EQ(office.disk("f"), "timeout = 30\n");
}

TEST(FileCalls, UndoingAnAgentsEditLeavesTheDisksChange) {
    FileOffice office;
    office.files.put("f", "a\nb\nc\nd\n");
    EXPECT_EQ(office.edit("f", "b", "agent b"), "ok");
    office.files.put("f", "a\nb\nc\ndisk d\n");
    const std::string id = office.read("f")->file.block_id;

    const auto undone = office.ask<Undone>([&](auto reply) {
        office.kernel->undo(FileOffice::as("ada"), id, UndoScope::own, false, std::move(reply));
    });

    ASSERT_TRUE(undone) << undone.error().message();
    EXPECT_EQ(office.text("f"), "a\nb\nc\ndisk d\n");
}

TEST(FileCalls, AChangeOnTheDiskIsNamedInHistory) {
    FileOffice office;
    office.files.put("f", "a\n");
    EXPECT_EQ(office.edit("f", "a", "b"), "ok");
    const std::string id = office.read("f")->file.block_id;

    const auto history = office.ask<HistoryPage>([&](auto reply) {
        office.kernel->history(FileOffice::as("ada"), id, 10, "", std::move(reply));
    });

    ASSERT_EQ(history->versions.size(), 2U);
    EXPECT_EQ(history->versions[0].actor, "agent:ada");
    EXPECT_EQ(history->versions[1].actor, "source:disk");
}

TEST(FileCalls, ARestartKeepsUnsavedEditsAndTheBlock) {
    FileOffice office;
    office.files.put("f", "a\nb\nc\n");
    EXPECT_EQ(office.edit("f", "b", "agent b"), "ok");
    const FileVersion before = office.read("f")->file;
    office.restart();
    EXPECT_TRUE(office.status("f").dirty);

    office.files.put("f", "a\nb\ndisk c\n");

    EXPECT_EQ(office.text("f"), "a\nagent b\ndisk c\n");
    EXPECT_EQ(office.read("f")->file.block_id, before.block_id);
    EXPECT_EQ(office.read("f")->file.version, before.version + 1);
}

TEST(FileCalls, AChangeThatTheStoreRefusedIsReadFromTheDiskAgain) {
    FileOffice office;
    office.files.put("f", "a\nb\n");
    EXPECT_EQ(office.text("f"), "a\nb\n");
    office.files.put("f", "a\ndisk b\n");
    office.store.fail_next();

    EXPECT_EQ(office.text("f"), "a\ndisk b\n");
    EXPECT_EQ(office.edit("f", "disk b", "agent b"), "ok");
    office.restart();
    EXPECT_EQ(office.text("f"), "a\nagent b\n");
}

TEST(FileCalls, AnOverlapThatAReadTookInRefusesSavesUntilItIsResolved) {
    FileOffice office;
    office.files.put("f", "a\nhello\nb\n");
    EXPECT_EQ(office.edit("f", "hello", "agent"), "ok");
    office.files.put("f", "a\nperson\nb\n");

    EXPECT_EQ(office.text("f"), "a\nagent\nb\n");
    EXPECT_TRUE(office.status("f").conflict);
    EXPECT_EQ(FileOffice::reason(office.save("f")), "disk_changed");
    EXPECT_EQ(office.disk("f"), "a\nperson\nb\n");
    EXPECT_EQ(FileOffice::reason(office.save("f", "bo")), "disk_changed");
    EXPECT_TRUE(office.status("f").conflict);
    EXPECT_EQ(FileOffice::reason(office.save("f")), "needs_resolution");
    EXPECT_EQ(office.resolve("f", ConflictChoice::agent), "ok");
    EXPECT_EQ(FileOffice::reason(office.save("f")), "ok");
    EXPECT_EQ(office.disk("f"), "a\nagent\nb\n");
    EXPECT_FALSE(office.status("f").conflict);
}

TEST(FileCalls, TheFirstContentOfAFileCannotBeUndone) {
    FileOffice office;
    office.files.put("f", "a\n");
    const std::string id = office.read("f")->file.block_id;

    const auto undone = office.ask<Undone>([&](auto reply) {
        office.kernel->undo(FileOffice::as("ada"), id, UndoScope::any, false, std::move(reply));
    });

    EXPECT_EQ(FileOffice::reason(undone), "nothing_to_undo");
    EXPECT_EQ(office.text("f"), "a\n");
}

// Agents and the disk edit one file in turns, at random, each on lines of its own; whatever the
// order of loads and saves, at the end both the document and the disk have the last word of each.
TEST(FileCalls, NoTextIsLostHoweverEditsAndDiskChangesAlternate) {
    const unsigned seed = seed_of_run();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 rng(seed);
    for (int round = 0; round < 30; ++round) {
        FileOffice office;
        std::vector<std::string> lines;
        for (int i = 0; i < 9; ++i) lines.push_back(cat("line", i, " 0"));
        const auto joined = [](const std::vector<std::string>& all) {
            std::string out;
            for (const std::string& line : all) out += line + "\n";
            return out;
        };
        office.files.put("f", joined(lines));
        std::vector<std::string> expected = lines;
        for (int step = 1; step <= 25; ++step) {
            const auto what = rng() % 5;
            const std::size_t line =
                2 * (rng() % 5);  // Every other line, so that no two owners touch.
            const std::string old = expected[line];
            const std::string fresh = cat("line", line, " ", step);
            if (what == 0) {
                ASSERT_EQ(FileOffice::reason(office.save("f")), "ok");
            } else if (what == 1) {
                office.restart();
            } else if (line % 4 == 0) {
                ASSERT_EQ(office.edit("f", old + "\n", fresh + "\n", what == 2 ? "ada" : "bob"),
                          "ok");
                expected[line] = fresh;
            } else {
                std::string disk = office.disk("f");
                disk.replace(disk.find(old + "\n"), old.size(), fresh);
                office.files.put("f", disk);
                expected[line] = fresh;
            }
        }
        ASSERT_EQ(office.text("f"), joined(expected));
        ASSERT_EQ(FileOffice::reason(office.save("f")), "ok");
        ASSERT_EQ(office.disk("f"), joined(expected));
    }
}

// The first look at a file is stored where there is room, and answered where there is none.
TEST(FileCalls, AFullDiskTellsTheStatusOfAFileThatNobodyHasRead) {
    FileOffice office;
    office.files.put("f", "one\n");
    office.store.fail_next();
    const FileStatus status = office.status("f");
    EXPECT_EQ(status.file.path, "f");
    EXPECT_FALSE(status.dirty);
    EXPECT_EQ(status.disk, Disk::same);
    EXPECT_EQ(office.text("f"), "one\n");
}

}  // namespace
}  // namespace quire::kernel
