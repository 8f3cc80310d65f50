// Files that are saved with every edit, and what is refused before anybody is asked.
#include <string>

#include <gtest/gtest.h>

#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

// A file whose document and disk changed the same words.
void collide(FileOffice& office, const std::string& path) {
    office.files.put(path, "one\ntwo\n");
    ASSERT_EQ(office.edit(path, "two", "ours", "bo"), "ok");
    office.files.put(path, "one\ntheirs\n");
}

TEST(SaveOnCommit, AnEditIsOnTheDiskWhenItIsAnswered) {
    FileOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("f", "old\n");

    EXPECT_EQ(office.edit("f", "old", "new"), "ok");
    EXPECT_EQ(office.disk("f"), "new\n");
    EXPECT_EQ(office.append("f", "more\n"), "ok");
    EXPECT_EQ(office.disk("f"), "new\nmore\n");
    EXPECT_FALSE(office.status("f").dirty);
    EXPECT_FALSE(office.save("f")->written);
}

TEST(SaveOnCommit, TheDisksChangesAreTakenInFirst) {
    FileOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("f", "one\ntwo\n");
    EXPECT_EQ(office.edit("f", "one", "1"), "ok");
    office.files.put("f", "1\ntwo\nthree\n");

    EXPECT_EQ(office.edit("f", "two", "2"), "ok");
    EXPECT_EQ(office.disk("f"), "1\n2\nthree\n");
}

TEST(SaveOnCommit, AConflictRefusesEditsUntilItIsResolvedWhichSaves) {
    FileOffice office;
    collide(office, "f");
    office.calls->set_save(SaveWhen::on_commit);

    EXPECT_EQ(office.edit("f", "one", "1"), "needs_resolution");
    EXPECT_EQ(office.append("f", "more\n"), "needs_resolution");
    EXPECT_EQ(office.text("f"), "one\nours\n");
    EXPECT_EQ(office.disk("f"), "one\ntheirs\n");

    EXPECT_EQ(FileOffice::reason(office.save("f")), "disk_changed");
    EXPECT_EQ(FileOffice::reason(office.save("f")), "needs_resolution");
    EXPECT_EQ(office.resolve("f", ConflictChoice::agent), "ok");
    EXPECT_EQ(office.disk("f"), "one\nours\n");
    EXPECT_FALSE(office.status("f").dirty);
    EXPECT_EQ(office.edit("f", "one", "1"), "ok");
    EXPECT_EQ(office.disk("f"), "1\nours\n");
}

TEST(SaveOnCommit, AResolutionThatChangesTheTextIsOnTheDiskAtOnce) {
    FileOffice office;
    collide(office, "f");
    office.calls->set_save(SaveWhen::on_commit);
    ASSERT_EQ(office.edit("f", "one", "1"), "needs_resolution");

    EXPECT_EQ(office.resolve("f", ConflictChoice::merge), "ok");

    EXPECT_EQ(office.text("f"), "one\ntheirs ours\n");
    EXPECT_EQ(office.disk("f"), "one\ntheirs ours\n");
    EXPECT_FALSE(office.status("f").conflict);
}

TEST(SaveOnCommit, AResolutionThatTheStoreRefusesGivesTheDiskItsBytesBack) {
    FileOffice office;
    collide(office, "f");
    office.calls->set_save(SaveWhen::on_commit);
    ASSERT_EQ(office.edit("f", "one", "1"), "needs_resolution");
    office.store.fail_next();

    EXPECT_EQ(office.resolve("f", ConflictChoice::merge), "disk_full");

    EXPECT_EQ(office.disk("f"), "one\ntheirs\n");
    EXPECT_EQ(office.text("f"), "one\nours\n");
    EXPECT_TRUE(office.status("f").conflict);
}

TEST(SaveOnCommit, AFileThatVanishedIsNotWrittenAnewByAnEdit) {
    FileOffice office;
    office.files.put("f", "one\n");
    ASSERT_EQ(office.edit("f", "one", "two"), "ok");
    office.files.erase("f");
    office.calls->set_save(SaveWhen::on_commit);

    EXPECT_EQ(office.edit("f", "two", "three"), "disk_changed");
    EXPECT_EQ(office.text("f"), "two\n");
    EXPECT_EQ(office.disk("f"), "<file_not_found>");
}

TEST(SaveOnCommit, AnEditThatTheStoreRefusesGivesTheDiskItsBytesBack) {
    FileOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("f", "old\n");
    ASSERT_EQ(office.text("f"), "old\n");
    office.store.fail_next();

    EXPECT_EQ(office.edit("f", "old", "new"), "disk_full");
    EXPECT_EQ(office.disk("f"), "old\n");
    EXPECT_EQ(office.text("f"), "old\n");
}

TEST(SaveOnCommit, AnAppendOnlyFileIsAppendedToAndSavedWithOnePermission) {
    FileOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("log/f", "old\n");

    EXPECT_EQ(office.append("log/f", "more\n"), "ok");
    EXPECT_EQ(office.disk("log/f"), "old\nmore\n");
}

TEST(SaveOnCommit, AppendsOfOneActorAreOneStepOfUndo) {
    FileOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("f", "a\n");
    ASSERT_EQ(office.append("f", "b\n"), "ok");
    ASSERT_EQ(office.append("f", "c\n"), "ok");
    const std::string id = office.read("f")->file.block_id;

    ASSERT_TRUE(office.ask<Undone>([&](auto reply) {
        office.kernel->undo(FileOffice::as("ada"), id, UndoScope::own, false, std::move(reply));
    }));

    EXPECT_EQ(office.text("f"), "a\n");
}

TEST(FileCalls, CreatingOverAnothersUnsavedEditsIsRefused) {
    FileOffice office;
    office.files.put("f", "one\n");
    ASSERT_EQ(office.edit("f", "one", "bo's", "bo"), "ok");
    office.files.erase("f");

    const Result<FileVersion> refused = office.create("f", "new\n");
    ASSERT_EQ(FileOffice::reason(refused), "unsaved_edits");
    EXPECT_EQ(refused.error().details().find("actors")->as_string(), "agent:bo");
    EXPECT_EQ(office.disk("f"), "<file_not_found>");

    const auto replaced = office.ask<FileVersion>([&](auto reply) {
        office.calls->create(FileOffice::as("ada"), {"f", "new\n", true}, std::move(reply));
    });
    EXPECT_EQ(FileOffice::reason(replaced), "ok");
    EXPECT_EQ(office.text("f"), "new\n");
}

TEST(FileCalls, NobodyIsAskedToApproveWhatWouldFail) {
    FileOffice office;
    office.files.put("ask/f", "old\n");
    const std::string id = office.read("ask/f")->file.block_id;

    EXPECT_EQ(office.edit("ask/f", "nowhere", "x"), "no_match");
    EXPECT_EQ(office.edit("ask/none", "a", "b"), "file_not_found");
    EXPECT_EQ(FileOffice::reason(office.create("ask/f", "x")), "file_exists");
    const auto status = office.ask<BlockVersion>([&](auto reply) {
        office.kernel->set_status(FileOffice::as("ada"), id, conversation::Status::done,
                                  std::move(reply));
    });
    EXPECT_EQ(FileOffice::reason(status), "invalid_argument");
    const auto erased = office.ask<BlockVersion>(
        [&](auto reply) { office.kernel->erase(FileOffice::as("ada"), id, std::move(reply)); });
    EXPECT_EQ(FileOffice::reason(erased), "invalid_argument");
    const auto undone = office.ask<Undone>([&](auto reply) {
        office.kernel->undo(FileOffice::as("ada"), id, UndoScope::own, false, std::move(reply));
    });
    EXPECT_EQ(FileOffice::reason(undone), "nothing_to_undo");
    EXPECT_EQ(office.edit("ask/f", "old", "new"), "escalation_required");
    EXPECT_EQ(office.text("ask/f"), "old\n");
}

}  // namespace
}  // namespace quire::kernel
