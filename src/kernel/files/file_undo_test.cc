// Undo of a file's deletion and of its creation.
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/core/block_reads.h"
#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

using File = Undone::File;

class FileUndo : public ::testing::Test {
protected:
    static UndoWhich last_by(const std::string& name) {
        return last_of(cat("agent:", name), UndoScope::own, false);
    }
    static UndoWhich all_by(const std::string& name) {
        return {.actor = cat("agent:", name), .all_since = 0};
    }
    Result<Undone> undo(const std::string& path, const UndoWhich& which,
                        const std::string& by = "eve") {
        return office.ask<Undone>([&](auto reply) {
            office.calls->undo(FileOffice::as(by), path, which, std::move(reply));
        });
    }
    Result<Undone> undo_block(const std::string& id, const UndoWhich& which) {
        return office.ask<Undone>([&](auto reply) {
            office.calls->undo_block(FileOffice::as("eve"), id, which, std::move(reply));
        });
    }
    std::string steps(const std::string& id, const UndoWhich& which) {
        const auto all = office.ask<std::vector<HistoryEntry>>([&](auto reply) {
            office.calls->undoable(FileOffice::as("eve"), id, which, std::move(reply));
        });
        if (!all) return all.error().reason();
        std::string out;
        for (const HistoryEntry& each : *all)
            cat_to(out, cat(each.version_id, " ", each.description, "; "));
        return out;
    }
    std::string history(const std::string& path) {
        const auto all = office.ask<FileHistory>([&](auto reply) {
            office.calls->history(FileOffice::as("eve"), path, 20, "", std::move(reply));
        });
        if (!all) return all.error().reason();
        std::string out;
        for (const HistoryEntry& each : all->page.versions)
            cat_to(out, cat(each.actor, " ", each.description, "; "));
        return out;
    }

    FileOffice office;
};

TEST_F(FileUndo, ADeletedFileComesBackAsTheBlockThatItWas) {
    const std::string id = office.create("f", "one\r\ntwo\r\n")->block_id;
    ASSERT_EQ(office.edit("f", "two", "2"), "ok");
    ASSERT_TRUE(office.save("f"));
    ASSERT_TRUE(office.erase("f"));
    EXPECT_EQ(steps(id, last_by("ada")), "3 delete; ");

    const Result<Undone> undone = undo("f", last_by("ada"));
    ASSERT_TRUE(undone) << undone.error().message();
    EXPECT_EQ(undone->file, File::restored);
    EXPECT_EQ(undone->version, 4U);
    EXPECT_EQ(office.disk("f"), "one\r\n2\r\n");
    EXPECT_EQ(office.status("f").file.block_id, id);
    EXPECT_FALSE(office.status("f").dirty);
    EXPECT_EQ(history("f"),
              "agent:eve undo of delete; agent:ada delete; agent:ada replace; agent:ada create; ");
    // Its other changes can be undone again, also after a restart.
    office.restart();
    EXPECT_EQ(office.text("f"), "one\r\n2\r\n");
    ASSERT_TRUE(undo("f", last_by("ada")));
    EXPECT_EQ(office.text("f"), "one\r\ntwo\r\n");
    // A deletion is undone once.
    EXPECT_EQ(FileOffice::reason(undo("f", last_by("ada"))), "nothing_to_undo");
}

TEST_F(FileUndo, ADeletionIsUndoneAfterARestart) {
    const std::string id = office.create("f", "text\n")->block_id;
    ASSERT_TRUE(office.erase("f"));
    office.restart();
    EXPECT_EQ(office.text("f"), "<file_not_found>");
    ASSERT_TRUE(undo_block(id, last_by("ada")));
    EXPECT_EQ(office.disk("f"), "text\n");
    office.restart();
    EXPECT_EQ(office.text("f"), "text\n");
    EXPECT_EQ(office.status("f").file.block_id, id);
}

TEST_F(FileUndo, AnotherActorsDeletionIsNotMeant) {
    ASSERT_TRUE(office.create("f", "text\n"));
    ASSERT_TRUE(office.erase("f"));
    EXPECT_EQ(FileOffice::reason(undo("f", last_by("bob"))), "nothing_to_undo");
    EXPECT_EQ(office.disk("f"), "<file_not_found>");
    EXPECT_EQ(FileOffice::reason(undo("never", last_by("ada"))), "file_not_found");
}

TEST_F(FileUndo, APathThatIsTakenIsLeftAlone) {
    const std::string id = office.create("f", "old\n")->block_id;
    ASSERT_TRUE(office.erase("f"));
    const std::string other = office.create("f", "new\n")->block_id;
    ASSERT_NE(id, other);
    EXPECT_EQ(FileOffice::reason(undo_block(id, last_by("ada"))), "file_exists");
    EXPECT_EQ(steps(id, last_by("ada")), "");
    EXPECT_EQ(office.disk("f"), "new\n");
    // A version of the deleted block is no version of the new one.
    ASSERT_EQ(office.edit("f", "new", "newer"), "ok");
    EXPECT_EQ(FileOffice::reason(undo_block(id, {.version = 2})), "file_exists");
    EXPECT_EQ(office.text("f"), "newer\n");
    // A file that is on the disk only is in the way as well.
    ASSERT_TRUE(office.save("f"));
    ASSERT_TRUE(office.erase("f"));
    office.files.put("f", "by hand\n");
    EXPECT_EQ(FileOffice::reason(undo_block(other, last_by("ada"))), "file_exists");
    EXPECT_EQ(office.disk("f"), "by hand\n");
}

TEST_F(FileUndo, ComingBackNeedsThePermissionToCreate) {
    office.files.put("fixed/f", "text\n");
    EXPECT_EQ(office.text("fixed/f"), "text\n");
    ASSERT_TRUE(office.erase("fixed/f"));
    EXPECT_EQ(FileOffice::reason(undo("fixed/f", last_by("ada"))), "escalation_required");
    EXPECT_EQ(office.disk("fixed/f"), "<file_not_found>");
}

TEST_F(FileUndo, ACreationIsUndoneOnlyByAnUndoThatSelectsAllOfIt) {
    const std::string id = office.create("f", "one\n")->block_id;
    EXPECT_EQ(FileOffice::reason(undo("f", last_by("ada"))), "nothing_to_undo");
    ASSERT_EQ(office.edit("f", "one", "two"), "ok");
    ASSERT_TRUE(office.save("f"));
    EXPECT_EQ(steps(id, all_by("ada")), "2 replace; 1 create; ");
    EXPECT_EQ(steps(id, {.version = 1}), "changed_since");
    const Result<Undone> undone = undo("f", all_by("ada"));
    ASSERT_TRUE(undone) << undone.error().message();
    EXPECT_EQ(undone->file, File::deleted);
    EXPECT_EQ(office.disk("f"), "<file_not_found>");
    EXPECT_EQ(FileOffice::reason(undo("f", all_by("ada"))), "nothing_to_undo");
    // The deletion is a change like any other.
    ASSERT_TRUE(undo("f", last_by("eve")));
    EXPECT_EQ(office.disk("f"), "two\n");
}

// Somebody deleted the file outside, so the version that made it anew is undone by itself.
TEST_F(FileUndo, ACreationOfAFileThatWasGoneIsUndone) {
    const std::string id = office.create("f", "one\n")->block_id;
    office.files.erase("f");
    ASSERT_EQ(FileOffice::reason(office.read("f")), "file_not_found");
    const Result<FileVersion> again = office.create("f", "two\n");
    ASSERT_TRUE(again);
    const std::uint64_t version = again->version;
    EXPECT_EQ(steps(id, {.version = version}), cat(version, " create; "));
    const Result<Undone> undone = undo("f", {.version = version});
    ASSERT_TRUE(undone) << undone.error().message();
    EXPECT_EQ(undone->file, File::deleted);
    EXPECT_EQ(office.disk("f"), "<file_not_found>");
}

TEST_F(FileUndo, ACreationIsUndoneOnceAllAfterItIs) {
    const std::string id = office.create("f", "one\n")->block_id;
    ASSERT_EQ(office.edit("f", "one", "two"), "ok");
    EXPECT_EQ(steps(id, {.version = 1}), "changed_since");
    ASSERT_TRUE(undo("f", {.version = 2}));
    ASSERT_TRUE(office.save("f"));
    EXPECT_EQ(steps(id, {.version = 1}), "1 create; ");
    const Result<Undone> undone = undo("f", {.version = 1});
    ASSERT_TRUE(undone) << undone.error().message();
    EXPECT_EQ(undone->file, File::deleted);
}

TEST_F(FileUndo, AFileThatAnActorMadeAndDeletedDoesNotComeBack) {
    const std::string id = office.create("f", "one\n")->block_id;
    ASSERT_TRUE(office.erase("f"));
    EXPECT_EQ(steps(id, all_by("ada")), "");
    EXPECT_EQ(steps(id, last_by("ada")), "2 delete; ");
}

TEST_F(FileUndo, OthersChangesKeepTheFile) {
    const std::string id = office.create("f", "one\ntwo\n")->block_id;
    ASSERT_EQ(office.edit("f", "one", "1", "ada"), "ok");
    ASSERT_EQ(office.edit("f", "two", "2", "bob"), "ok");
    const Result<Undone> undone = undo("f", all_by("ada"));
    ASSERT_TRUE(undone) << undone.error().message();
    EXPECT_EQ(undone->file, File::as_before);
    EXPECT_EQ(office.text("f"), "one\n2\n");
    // A file from the disk was created by nobody here.
    office.files.put("g", "text\n");
    ASSERT_EQ(office.edit("g", "text", "more"), "ok");
    ASSERT_TRUE(undo("g", {.all_since = 0}));
    EXPECT_EQ(office.text("g"), "text\n");
}

TEST_F(FileUndo, DeletingNeedsThePermissionToDelete) {
    ASSERT_TRUE(office.create("kept/f", "one\n"));
    EXPECT_EQ(FileOffice::reason(undo("kept/f", all_by("ada"))), "escalation_required");
    EXPECT_EQ(office.disk("kept/f"), "one\n");
}

// Random creations, edits, deletions and undos against a model that remembers the text of the last life.
TEST_F(FileUndo, RandomLivesAgreeWithAModel) {
    std::mt19937 random(5);
    for (int script = 0; script < 60; ++script) {
        const std::string path = cat("file", script);
        std::optional<std::string> now, before;
        bool was_deleted = false;  // The last entry is a deletion that can be undone.
        for (int step = 0; step < 25; ++step) {
            switch (random() % 4) {
                case 0: {
                    const bool made = office.create(path, cat("v", step, "\n")).has_value();
                    ASSERT_EQ(made, !now) << script << " " << step;
                    if (made) now = cat("v", step, "\n");
                    if (made) was_deleted = false;
                    break;
                }
                case 1:
                    if (now && office.edit(path, "v", "vw") == "ok") {
                        now->insert(1, "w");
                        ASSERT_TRUE(office.save(path));
                    }
                    break;
                case 2: {
                    const bool erased = office.erase(path).has_value();
                    ASSERT_EQ(erased, now.has_value()) << script << " " << step;
                    if (erased) {
                        before = now;
                        now.reset();
                        was_deleted = true;
                    }
                    break;
                }
                default: {
                    if (now) break;
                    const Result<Undone> undone = undo(path, last_by("ada"));
                    ASSERT_EQ(undone.has_value(), was_deleted) << script << " " << step;
                    if (was_deleted) now = before;
                    was_deleted = false;
                    break;
                }
            }
            if (random() % 20 == 0) office.restart();
            ASSERT_EQ(office.disk(path), now.value_or("<file_not_found>")) << script << " " << step;
        }
    }
}

}  // namespace
}  // namespace quire::kernel
