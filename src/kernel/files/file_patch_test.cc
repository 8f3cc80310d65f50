// One patch over several files and blocks: all of it or nothing, in the documents and on the disk.
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "edits/patch.h"
#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

std::string replaces(const std::string& name, const std::string& from, const std::string& to) {
    return cat("--- a/", name, "\n+++ b/", name, "\n@@ -1 +1 @@\n-", from, "\n+", to, "\n");
}

class PatchOffice : public FileOffice {
public:
    Result<Patched> patch(const std::string& patch, bool dry_run = false,
                          const std::string& by = "ada") {
        return ask<Patched>([&](auto reply) { start(patch, std::move(reply), dry_run, by); });
    }
    void start(const std::string& patch, Reply<Patched> reply, bool dry_run = false,
               const std::string& by = "ada") {
        auto parts = edits::parse_patch(patch);
        if (!parts) return reply(Failure(std::move(parts).error()));
        calls->patch(as(by), {std::move(*parts), dry_run}, std::move(reply));
    }
    std::string block(const std::string& content) {
        BlockCreate what;
        what.content = content;
        return ask<BlockVersion>([&](auto reply) {
                   kernel->create(as("ada"), what, std::move(reply));
               })
            ->block_id;
    }
    std::string text_of(const std::string& id) {
        const auto whole =
            ask<WholeText>([&](auto reply) { kernel->text(as("ada"), id, std::move(reply)); });
        return whole ? whole->text : cat("<", whole.error().reason(), ">");
    }
    std::string undo(const std::string& id) {
        return reason(ask<Undone>([&](auto reply) {
            kernel->undo(as("ada"), id, UndoScope::own, false, std::move(reply));
        }));
    }
};

TEST(FilePatch, FilesAndBlocksArePatchedTogether) {
    PatchOffice office;
    office.files.put("f", "one\ntwo\n");
    office.files.put("d/g", "three\n");
    const std::string id = office.block("hello\n");
    const std::string other = office.block("world\n");

    const auto done = office.patch(cat(replaces("f", "one", "1"), replaces("d/g", "three", "3"),
                                       replaces(id, "hello", "hi"),
                                       replaces(other, "world", "all")));

    ASSERT_TRUE(done) << done.error().message();
    ASSERT_EQ(done->blocks.size(), 4U);
    EXPECT_EQ(done->blocks[0].path, "f");
    EXPECT_EQ(done->blocks[0].version, 2U);
    EXPECT_EQ(done->blocks[2].block_id, id);
    EXPECT_EQ(done->blocks[2].version, 2U);
    EXPECT_EQ(office.text("f"), "1\ntwo\n");
    EXPECT_EQ(office.text("d/g"), "3\n");
    EXPECT_EQ(office.text_of(id), "hi\n");
    EXPECT_EQ(office.text_of(other), "all\n");
    EXPECT_EQ(office.disk("f"), "one\ntwo\n");
    EXPECT_EQ(office.undo(id), "ok");
    EXPECT_EQ(office.text_of(id), "hello\n");
    office.restart();
    EXPECT_EQ(office.text("f"), "1\ntwo\n");
    EXPECT_EQ(office.text_of(other), "all\n");
}

TEST(FilePatch, TheDiffOfThePatchIsAPatch) {
    PatchOffice office;
    office.files.put("f", "one\ntwo\n");

    const auto done = office.patch(cat(replaces("f", "one", "1"), "--- /dev/null\n+++ b/new\n",
                                       "@@ -0,0 +1 @@\n+n\n"));

    ASSERT_TRUE(done) << done.error().message();
    EXPECT_EQ(done->diff,
              "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n"
              "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n");
}

TEST(FilePatch, FilesAreCreatedDeletedAndMovedOnTheDisk) {
    PatchOffice office;
    office.files.put("free/gone", "g\n");
    office.files.put("free/old", "\xEF\xBB\xBFone\r\ntwo\r\n");

    const auto done = office.patch(
        "*** Begin Patch\n*** Add File: free/new\n+n\n*** Delete File: free/gone\n"
        "*** Update File: free/old\n*** Move to: free/deep/moved\n@@\n-one\n+1\n*** End Patch\n");

    ASSERT_TRUE(done) << done.error().message();
    EXPECT_EQ(office.disk("free/new"), "n\n");
    EXPECT_EQ(office.disk("free/gone"), "<file_not_found>");
    EXPECT_EQ(office.disk("free/old"), "<file_not_found>");
    EXPECT_EQ(office.disk("free/deep/moved"), "\xEF\xBB\xBF"
                                              "1\r\ntwo\r\n");
    ASSERT_EQ(done->blocks.size(), 3U);
    EXPECT_EQ(done->blocks[2].path, "free/deep/moved");
    EXPECT_EQ(done->blocks[2].version, 1U);
    EXPECT_EQ(office.text("free/deep/moved"), "1\r\ntwo\r\n");
    EXPECT_FALSE(office.read("free/gone"));
}

TEST(FilePatch, AHunkThatFailsRefusesAllAndEveryOneIsTold) {
    PatchOffice office;
    office.files.put("f", "one\n");
    office.files.put("g", "x\nx\n");
    const std::string id = office.block("hello\n");

    const auto done = office.patch(cat("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n",
                                       replaces("f", "one", "1"),
                                       "--- a/g\n+++ b/g\n@@ -7 +7 @@\n-x\n+y\n",
                                       replaces(id, "none", "hi")));

    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().reason(), "ambiguous_hunk");
    const Value expected(List{Map{{"patch_line", 12},
                                  {"reason", "ambiguous_hunk"},
                                  {"lines", List{0, 1}},
                                  {"path", "g"}},
                              Map{{"patch_line", 17},
                                  {"reason", "hunk_not_found"},
                                  {"block_id", id}}});
    EXPECT_EQ(*done.error().details().find("hunks"), expected);
    EXPECT_EQ(office.text("f"), "one\n");
    EXPECT_EQ(office.disk("new"), "<file_not_found>");
    EXPECT_FALSE(office.read("new"));
    EXPECT_EQ(FileOffice::reason(office.create("new", "later\n")), "ok");
}

TEST(FilePatch, ADryRunShowsWhatItWouldDo) {
    PatchOffice office;
    office.files.put("f", "one\n");

    const auto done = office.patch(
        cat(replaces("f", "one", "1"), "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n"), true);

    ASSERT_TRUE(done) << done.error().message();
    EXPECT_EQ(done->blocks[0].version, 1U);
    EXPECT_EQ(done->blocks[1].block_id, "");
    EXPECT_NE(done->diff.find("+1\n"), std::string::npos);
    EXPECT_EQ(office.text("f"), "one\n");
    EXPECT_EQ(office.disk("new"), "<file_not_found>");
}

TEST(FilePatch, EachFilesPermissionIsThatOfTheSameCallAlone) {
    PatchOffice office;
    office.files.put("f", "one\n");
    office.files.put("locked/g", "one\n");
    office.files.put("kept/h", "one\n");

    EXPECT_EQ(FileOffice::reason(
                  office.patch(cat(replaces("f", "one", "1"), replaces("locked/g", "one", "1")))),
              "permission_denied");
    EXPECT_EQ(FileOffice::reason(
                  office.patch(cat(replaces("f", "one", "1"),
                                   "--- a/kept/h\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"))),
              "escalation_required");
    EXPECT_EQ(FileOffice::reason(office.patch(cat(
                  replaces("f", "one", "1"), "--- /dev/null\n+++ b/fixed/i\n@@ -0,0 +1 @@\n+n\n"))),
              "escalation_required");
    EXPECT_EQ(FileOffice::reason(office.patch(replaces("../f", "one", "1"))), "outside_workspace");
    EXPECT_EQ(office.text("f"), "one\n");
}

TEST(FilePatch, WhatWouldFailIsNotEscalated) {
    PatchOffice office;
    office.files.put("ask/f", "one\n");

    EXPECT_EQ(FileOffice::reason(office.patch(replaces("ask/f", "none", "1"))), "hunk_not_found");
    EXPECT_EQ(FileOffice::reason(office.patch(replaces("ask/f", "one", "1"))),
              "escalation_required");
    EXPECT_EQ(FileOffice::reason(office.patch(replaces("ask/f", "one", "1"), true)), "ok");
}

TEST(FilePatch, WhatIsThereOrNotIsChecked) {
    PatchOffice office;
    office.files.put("f", "one\n");
    office.files.put("d/g", "one\n");

    EXPECT_EQ(FileOffice::reason(office.patch("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+n\n")),
              "file_exists");
    EXPECT_EQ(FileOffice::reason(office.patch(replaces("none", "one", "1"))), "file_not_found");
    EXPECT_EQ(FileOffice::reason(office.patch(replaces("d", "one", "1"))), "not_a_file");
    EXPECT_EQ(FileOffice::reason(office.patch("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-two\n")),
              "hunk_not_found");
    EXPECT_EQ(FileOffice::reason(
                  office.patch(cat(replaces("f", "one", "1"), replaces("./f", "one", "2")))),
              "invalid_patch");
    EXPECT_EQ(FileOffice::reason(office.patch("@@ -1 +1 @@\n-one\n+1\n")), "invalid_patch");
    EXPECT_EQ(FileOffice::reason(office.patch(replaces("memory:notes", "one", "1"))),
              "memory_block");
    const std::string id = office.block("hello\n");
    EXPECT_EQ(FileOffice::reason(
                  office.patch(cat("--- a/", id, "\n+++ /dev/null\n@@ -1 +0,0 @@\n-hello\n"))),
              "invalid_patch");
}

TEST(FilePatch, AWaitingAppendIsPartOfTheText) {
    PatchOffice office;
    const std::string id = office.block("hello\n");
    const auto accepted = office.ask<Appended>([&](auto reply) {
        office.kernel->append(FileOffice::as("bo"), id, "world", Ack::accepted, std::move(reply));
    });
    ASSERT_TRUE(accepted);

    EXPECT_EQ(FileOffice::reason(office.patch(replaces(id, "world", "all"))), "ok");
    EXPECT_EQ(office.text_of(id), "hello\nall");
}

TEST(FilePatch, WithSaveOnCommitEveryFileIsOnTheDisk) {
    PatchOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("f", "one\n");
    office.files.put("g", "two\n");

    EXPECT_EQ(FileOffice::reason(
                  office.patch(cat(replaces("f", "one", "1"), replaces("g", "two", "2")))),
              "ok");
    EXPECT_EQ(office.disk("f"), "1\n");
    EXPECT_EQ(office.disk("g"), "2\n");
    EXPECT_FALSE(office.status("g").dirty);
}

TEST(FilePatch, AConflictInOneFileRefusesAll) {
    PatchOffice office;
    office.files.put("f", "one\n");
    office.files.put("g", "two\n");
    ASSERT_EQ(office.edit("g", "two", "ours", "bo"), "ok");
    office.files.put("g", "theirs\n");
    office.calls->set_save(SaveWhen::on_commit);

    EXPECT_EQ(FileOffice::reason(
                  office.patch(cat(replaces("f", "one", "1"), replaces("g", "ours", "2")))),
              "needs_resolution");
    EXPECT_EQ(office.disk("f"), "one\n");
    EXPECT_EQ(office.text("f"), "one\n");
}

TEST(FilePatch, WhatTheStoreRefusesIsPutBack) {
    PatchOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("free/f", "one\n");
    office.files.put("free/g", "two\n");
    ASSERT_EQ(office.text("free/f"), "one\n");
    ASSERT_EQ(office.text("free/g"), "two\n");
    office.store.fail_next();

    const auto done = office.patch(cat(replaces("free/f", "one", "1"),
                                       "--- a/free/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-two\n",
                                       "--- /dev/null\n+++ b/free/h\n@@ -0,0 +1 @@\n+n\n"));

    ASSERT_EQ(FileOffice::reason(done), "disk_full");
    EXPECT_NE(done.error().message().find("have their bytes back"), std::string::npos);
    EXPECT_EQ(office.disk("free/f"), "one\n");
    EXPECT_EQ(office.disk("free/g"), "two\n");
    EXPECT_EQ(office.disk("free/h"), "<file_not_found>");
    EXPECT_EQ(office.text("free/f"), "one\n");
    EXPECT_EQ(office.text("free/g"), "two\n");
    EXPECT_EQ(FileOffice::reason(office.patch(replaces("free/f", "one", "1"))), "ok");
    EXPECT_EQ(office.disk("free/f"), "1\n");
}

TEST(FilePatch, PatchesOverTheSameFilesDoNotWaitForEachOther) {
    PatchOffice office;
    office.files.put("f", "one\n");
    office.files.put("g", "two\n");
    std::string answers;
    const auto note = [&](Result<Patched> done) { answers += FileOffice::reason(done) + " "; };
    office.start(cat(replaces("f", "one", "1"), replaces("g", "two", "2")), note);
    office.start(cat(replaces("g", "2", "II"), replaces("f", "1", "I")), note);

    office.scheduler.run_all();

    EXPECT_EQ(answers, "ok ok ");
    EXPECT_EQ(office.text("f"), "I\n");
    EXPECT_EQ(office.text("g"), "II\n");
}

TEST(FilePatch, APatchThatChangesNothingMakesNoVersion) {
    PatchOffice office;
    office.files.put("f", "one\n");

    const auto done = office.patch(replaces("f", "one", "one"));

    ASSERT_TRUE(done) << done.error().message();
    EXPECT_EQ(done->blocks[0].version, 1U);
    EXPECT_EQ(done->diff, "");
}

}  // namespace
}  // namespace quire::kernel
