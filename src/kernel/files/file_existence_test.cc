// Files that are created, deleted, missing or not text.
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

TEST(FileCalls, CreateWritesTheFileAndReplacesNothing) {
    FileOffice office;
    office.files.put("there", "x");

    const auto created = office.create("new/deep/f", "hello\n");

    ASSERT_TRUE(created) << created.error().message();
    EXPECT_EQ(created->version, 1U);
    EXPECT_EQ(office.disk("new/deep/f"), "hello\n");
    EXPECT_EQ(office.text("new/deep/f"), "hello\n");
    EXPECT_FALSE(office.status("new/deep/f").dirty);
    EXPECT_EQ(FileOffice::reason(office.create("there", "y")), "file_exists");
    EXPECT_EQ(FileOffice::reason(office.create("new/deep", "y")), "file_exists");
    EXPECT_EQ(FileOffice::reason(office.create("../out", "y")), "outside_workspace");
    EXPECT_EQ(FileOffice::reason(office.create("nul", std::string("\0", 1))), "binary_file");
}

TEST(FileCalls, AFileThatIsNotTextIsRefusedAndMakesNoBlock) {
    FileOffice office;
    office.files.put("bin", std::string("a\0b", 3));
    office.files.put("latin", "caf\xE9");
    office.files.put("big", std::string((1 << 20) + 1, 'x'));
    office.files.put("d/x", "");

    EXPECT_EQ(office.text("bin"), "<binary_file>");
    EXPECT_EQ(office.text("latin"), "<unsupported_encoding>");
    EXPECT_EQ(office.text("big"), "<too_large>");
    EXPECT_EQ(office.text("d"), "<not_a_file>");
    EXPECT_EQ(office.text("none"), "<file_not_found>");
    EXPECT_EQ(office.text("/etc/passwd"), "<outside_workspace>");
    const auto blocks = office.ask<ListPage>(
        [&](auto reply) { office.kernel->list(FileOffice::as("ada"), {}, std::move(reply)); });
    EXPECT_TRUE(blocks->blocks.empty());

    office.files.put("bin", "now text\n");
    EXPECT_EQ(office.text("bin"), "now text\n");
}

TEST(FileCalls, AFileThatTurnsBinaryKeepsItsTextAndBreaksNoList) {
    FileOffice office;
    office.files.put("f", "text\n");
    EXPECT_EQ(office.text("f"), "text\n");
    office.files.put("f", std::string("\0", 1));

    EXPECT_EQ(office.text("f"), "<binary_file>");
    EXPECT_EQ(office.edit("f", "text", "more"), "binary_file");
    const auto blocks = office.ask<ListPage>(
        [&](auto reply) { office.kernel->list(FileOffice::as("ada"), {}, std::move(reply)); });
    ASSERT_TRUE(blocks) << blocks.error().message();
    EXPECT_EQ(blocks->blocks.size(), 1U);
}

TEST(FileCalls, ANulThatCouldNotBeSavedIsNotWritten) {
    FileOffice office;
    office.files.put("f", "text\n");
    const std::string nul("a\0b\n", 4);
    EXPECT_EQ(office.append("f", nul), "binary_file");
    EXPECT_EQ(office.edit("f", "text", nul), "binary_file");
    EXPECT_EQ(FileOffice::reason(office.create("g", nul)), "binary_file");
    EXPECT_EQ(office.text("f"), "text\n");
}

TEST(FileCalls, AnUnrecordedDeletionSaysThatTheFileIsGoneFromTheDisk) {
    FileOffice office;
    office.files.put("f", "text\n");
    ASSERT_EQ(FileOffice::reason(office.read("f")), "ok");
    office.store.fail_next();
    const auto gone = office.erase("f");
    EXPECT_EQ(FileOffice::reason(gone), "disk_full");
    EXPECT_NE(gone.error().message().find("f is gone from the disk"), std::string::npos);
    EXPECT_EQ(office.disk("f"), "<file_not_found>");
}

TEST(FileCalls, AFileDeletedOnDiskIsGoneUnlessItHasEditsThatWereNotSaved) {
    FileOffice office;
    office.files.put("clean", "a\n");
    office.files.put("edited", "a\n");
    EXPECT_EQ(office.text("clean"), "a\n");
    EXPECT_EQ(office.edit("edited", "a", "b"), "ok");
    office.files.erase("clean");
    office.files.erase("edited");

    EXPECT_EQ(office.text("clean"), "<file_not_found>");
    EXPECT_EQ(office.status("clean").disk, Disk::missing);
    EXPECT_FALSE(office.status("clean").dirty);
    EXPECT_TRUE(office.status("edited").dirty);
    EXPECT_EQ(FileOffice::reason(office.save("edited")), "disk_changed");
    EXPECT_EQ(office.disk("edited"), "<file_not_found>");
    EXPECT_EQ(office.text("edited"), "b\n");
    EXPECT_EQ(office.status("edited").disk, Disk::missing);
    EXPECT_EQ(FileOffice::reason(office.save("edited")), "disk_changed");
    EXPECT_EQ(office.resolve("edited", ConflictChoice::agent), "ok");
    EXPECT_TRUE(office.save("edited")->written);
    EXPECT_EQ(office.disk("edited"), "b\n");
}

TEST(FileCalls, TheNextSaveReportsAFileThatVanishedWhoeverSawItFirst) {
    FileOffice office;
    office.files.put("f.txt", "one\n");
    ASSERT_EQ(office.edit("f.txt", "one", "1"), "ok");
    office.files.erase("f.txt");
    EXPECT_EQ(office.append("f.txt", "two\n"), "ok");
    office.restart();

    EXPECT_EQ(FileOffice::reason(office.save("f.txt")), "disk_changed");
    EXPECT_EQ(office.disk("f.txt"), "<file_not_found>");
    EXPECT_EQ(office.resolve("f.txt", ConflictChoice::agent), "ok");
    EXPECT_EQ(FileOffice::reason(office.save("f.txt")), "ok");
    EXPECT_EQ(office.disk("f.txt"), "1\ntwo\n");
}

TEST(FileCalls, SavingAFileThatIsGoneCreatesIt) {
    FileOffice office;
    office.files.put("fixed/f", "one\n");
    ASSERT_EQ(office.edit("fixed/f", "one", "1"), "ok");
    office.files.erase("fixed/f");
    EXPECT_EQ(FileOffice::reason(office.save("fixed/f")), "disk_changed");
    EXPECT_EQ(office.resolve("fixed/f", ConflictChoice::agent), "ok");

    EXPECT_EQ(FileOffice::reason(office.save("fixed/f")), "escalation_required");

    EXPECT_EQ(office.disk("fixed/f"), "<file_not_found>");
}

TEST(FileCalls, ADeletedFilesBlockIsGoneAndItsNameIsFree) {
    FileOffice office;
    office.files.put("free/f", "old\n");
    const std::string before = office.read("free/f")->file.block_id;

    EXPECT_EQ(FileOffice::reason(office.erase("free/f")), "ok");

    const auto by_id = office.ask<WholeText>(
        [&](auto reply) { office.kernel->text(FileOffice::as("ada"), before, std::move(reply)); });
    EXPECT_EQ(FileOffice::reason(by_id), "invalid_reference");
    const auto created = office.create("free/f", "new\n");
    EXPECT_NE(created->block_id, before);
    office.restart();
    EXPECT_EQ(office.text("free/f"), "new\n");
    EXPECT_EQ(office.read("free/f")->file.block_id, created->block_id);
}

TEST(FileCalls, AFileCreatedDuringItsDeletionIsANewDocument) {
    FileOffice office;
    ASSERT_TRUE(office.create("free/a", "old\n"));
    office.store.hold(true);
    const auto start = [&](auto call) {
        auto answer = std::make_shared<std::optional<Result<FileVersion>>>();
        call(Reply<FileVersion>([answer](Result<FileVersion> made) { *answer = std::move(made); }));
        office.scheduler.run_all();
        return answer;
    };
    const auto erased = start([&](auto reply) {
        office.calls->erase(FileOffice::as("ada"), "free/a", std::move(reply));
    });
    const auto made = start([&](auto reply) {
        office.calls->create(FileOffice::as("bo"), {"free/a", "new\n"}, std::move(reply));
    });
    while (!made->has_value() && office.store.queued() > 0) {
        office.store.flush();
        office.scheduler.run_all();
    }
    office.store.hold(false);

    ASSERT_TRUE(erased->has_value() && **erased);
    ASSERT_TRUE(made->has_value() && **made);
    EXPECT_NE((**made)->block_id, (**erased)->block_id);
    EXPECT_EQ(office.read("free/a")->file.block_id, (**made)->block_id);
    EXPECT_EQ(office.text("free/a"), "new\n");
}

TEST(FileCalls, ADeletionThatTheStoreRefusedLeavesTheNameToItsFile) {
    FileOffice office;
    const auto made = office.create("free/a", "old\n");
    ASSERT_TRUE(made);
    office.store.fail_next();
    ASSERT_FALSE(office.erase("free/a"));

    ASSERT_TRUE(office.create("free/a", "new\n"));

    EXPECT_EQ(office.read("free/a")->file.block_id, made->block_id);
    EXPECT_EQ(office.text("free/a"), "new\n");
}

TEST(FileCalls, ACreationThatTheStoreRefusedLeavesNoFile) {
    FileOffice office;
    office.store.fail_next();
    EXPECT_EQ(FileOffice::reason(office.create("free/a", "text\n")), "disk_full");
    EXPECT_EQ(office.disk("free/a"), "<file_not_found>");
    EXPECT_EQ(FileOffice::reason(office.create("free/a", "text\n")), "ok");
}

TEST(FileCalls, DeletingAFileThatChangedSinceItWasReadIsRefused) {
    FileOffice office;
    office.files.put("free/f", "old\n");
    EXPECT_EQ(office.text("free/f"), "old\n");
    office.files.put("free/f", "theirs\n");

    EXPECT_EQ(FileOffice::reason(office.erase("free/f")), "disk_changed");
    EXPECT_EQ(office.disk("free/f"), "theirs\n");
    EXPECT_EQ(FileOffice::reason(office.erase("free/f")), "ok");
}

TEST(FileCalls, AFileWithUnsavedEditsOfOthersIsNotDeleted) {
    FileOffice office;
    office.files.put("f", "a\nb\n");
    EXPECT_EQ(office.edit("f", "b", "bo's b", "bo"), "ok");

    const Result<FileVersion> refused = office.erase("f");
    ASSERT_EQ(FileOffice::reason(refused), "unsaved_edits");
    EXPECT_EQ(refused.error().details().find("actors")->as_string(), "agent:bo");
    EXPECT_EQ(office.text("f"), "a\nbo's b\n");

    EXPECT_EQ(FileOffice::reason(office.save("f")), "ok");
    EXPECT_EQ(office.edit("f", "a", "ada's a", "ada"), "ok");
    const std::string id = office.read("f")->file.block_id;
    EXPECT_EQ(FileOffice::reason(office.erase("f")), "ok");
    const auto undone = office.ask<Undone>([&](auto reply) {
        office.kernel->undo(FileOffice::as("ada"), id, UndoScope::own, false, std::move(reply));
    });
    EXPECT_EQ(FileOffice::reason(undone), "invalid_reference");
}

}  // namespace
}  // namespace quire::kernel
