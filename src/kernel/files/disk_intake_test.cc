// Settled changes of the disk, as they reach documents and subscribers.
#include "kernel/files/disk_intake.h"

#include <gtest/gtest.h>

#include "crdt/doc/text.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

using fs::ChangeType;

// An office in which what changes on the disk is taken in.
struct Intake {
    Intake() {
        hub.open({.owner = "test", .has_ended = [] { return false; },
                  .sees = [](const FileEvent&) { return true; }},
                 [this](Result<FileHub::Pulled> opened) { id = opened->subscription_id; });
        office.scheduler.run_all();
    }
    std::string after(ChangeType type, const std::string& path, const std::string& from = "",
                      bool is_unsure = false) {
        fs::TreeChange change;
        change.type = type;
        change.path = path;
        change.from = from;
        change.is_unsure = is_unsure;
        if (const auto stamp = office.files.stamp(path)) change.stamp = *stamp;
        return take(std::move(change));
    }
    std::string take(fs::TreeChange change) {
        bool is_done = false;
        intake.take(std::move(change), [&] { is_done = true; });
        office.scheduler.run_all();
        EXPECT_TRUE(is_done);
        return events();
    }
    std::string events() {
        std::string out;
        hub.pull("test", id, 0, [&](Result<FileHub::Pulled> pulled) {
            for (const auto& event : pulled->events) {
                out += cat(out.empty() ? "" : ", ", name_of(event->change_type), " ",
                           event->from.empty() ? "" : cat(event->from, " -> "), event->path,
                           event->block_id.empty() ? "" : " block", " by ", event->actor);
            }
        });
        office.scheduler.run_all();
        return out;
    }
    // The text that the document has, without a look at the disk.
    std::string text_of(const std::string& path) {
        const auto live = office.kernel->core()->catalog().find(Name{kFileKind, path});
        if (live == nullptr || !live->loaded()) return "<none>";
        return live->doc().text(live->whole().content).rope().str();
    }
    std::string block_of(const std::string& path) {
        const auto read = office.read(path);
        return read ? read->file.block_id : "";
    }

    FileOffice office;
    FileHub hub{office.scheduler, office.clock, office.rng};
    DiskIntake intake{*office.kernel, *office.gate, hub};
    std::string id;
};

TEST(DiskIntake, AChangeOfALoadedFileIsInItsDocument) {
    Intake it;
    it.office.files.put("a.txt", "one\n");
    it.office.read("a.txt");

    it.office.files.put("a.txt", "two\n");

    EXPECT_EQ(it.after(ChangeType::modified, "a.txt"), "Modified a.txt block by source:disk");
    EXPECT_EQ(it.text_of("a.txt"), "two\n");
}

TEST(DiskIntake, AChangeThatACallHasTakenInAlreadyIsToldAllTheSame) {
    Intake it;
    it.office.files.put("a.txt", "one\n");
    it.office.read("a.txt");
    it.office.files.put("a.txt", "two\n");

    it.office.read("a.txt");

    EXPECT_EQ(it.after(ChangeType::modified, "a.txt"), "Modified a.txt block by source:disk");
}

TEST(DiskIntake, BytesThatChangedUnderTheSameTimesAreFoundWhereBytesCount) {
    Intake it;
    it.office.files.put("a.txt", "one\n");
    it.office.read("a.txt");
    it.office.files.put_unseen("a.txt", "two\n");
    const auto check = [&](Evidence evidence) {
        const auto live = it.office.kernel->core()->catalog().find(Name{kFileKind, "a.txt"});
        it.intake.check(live, evidence, [] {});
        it.office.scheduler.run_all();
        return it.events();
    };

    EXPECT_EQ(check(Evidence::stamp), "");
    EXPECT_EQ(it.text_of("a.txt"), "one\n");
    EXPECT_EQ(check(Evidence::bytes), "Modified a.txt block by source:disk");
    EXPECT_EQ(it.text_of("a.txt"), "two\n");
    EXPECT_EQ(check(Evidence::bytes), "");
}

TEST(DiskIntake, AFileThatIsReplacedByALinkIsMissing) {
    Intake it;
    it.office.files.put("a.txt", "one\n");
    it.office.files.put("b.txt", "other\n");
    it.office.read("a.txt");
    it.office.files.link("a.txt", "b.txt");
    fs::TreeChange change;
    change.path = "a.txt";
    change.is_link = true;
    EXPECT_EQ(it.take(change), "Modified a.txt block by source:disk");
    EXPECT_EQ(it.text_of("a.txt"), "one\n");
}

TEST(DiskIntake, AFileThatIsNotLoadedIsOnlyTold) {
    Intake it;
    it.office.files.put("a.txt", "one\n");

    EXPECT_EQ(it.after(ChangeType::created, "a.txt"), "Created a.txt by source:disk");
    EXPECT_EQ(it.text_of("a.txt"), "<none>");
    EXPECT_EQ(it.after(ChangeType::modified, "a.txt", "", true), "");
}

TEST(DiskIntake, ASaveIsToldWithTheActorWhoMadeIt) {
    Intake it;
    it.office.files.put("a.txt", "one\n");
    it.office.edit("a.txt", "one", "two", "ada");
    ASSERT_EQ(it.office.reason(it.office.save("a.txt", "ada")), "ok");

    EXPECT_EQ(it.after(ChangeType::modified, "a.txt"), "Modified a.txt block by agent:ada");
    // An edit that is not saved has no part in what the disk shows.
    it.office.files.put("a.txt", "three\n");
    it.office.read("a.txt");
    it.office.edit("a.txt", "three", "four", "bob");
    EXPECT_EQ(it.after(ChangeType::modified, "a.txt"), "Modified a.txt block by source:disk");
}

TEST(DiskIntake, AFileThatIsOnlyTouchedIsNoChange) {
    Intake it;
    it.office.files.put("a.txt", "one\n");
    it.office.read("a.txt");

    it.office.files.put("a.txt", "one\n");

    EXPECT_EQ(it.after(ChangeType::modified, "a.txt"), "");
}

TEST(DiskIntake, FilesThatAreCreatedAndDeletedByCallsAreToldWithTheirActors) {
    Intake it;
    ASSERT_TRUE(it.office.create("free/a.txt", "one\n"));
    EXPECT_EQ(it.after(ChangeType::created, "free/a.txt"), "Created free/a.txt block by agent:ada");

    fs::TreeChange gone;
    gone.type = ChangeType::deleted;
    gone.path = "free/a.txt";
    gone.stamp = *it.office.files.stamp("free/a.txt");
    ASSERT_TRUE(it.office.erase("free/a.txt"));

    EXPECT_EQ(it.take(gone), "Deleted free/a.txt block by agent:ada");
}

TEST(DiskIntake, AFileThatIsGoneFromTheDiskIsToldOnce) {
    Intake it;
    it.office.files.put("a.txt", "one\n");
    it.office.edit("a.txt", "one", "two");
    it.office.files.erase("a.txt");

    EXPECT_EQ(it.after(ChangeType::deleted, "a.txt"), "Deleted a.txt block by source:disk");
    EXPECT_EQ(it.text_of("a.txt"), "two\n");
    it.office.files.put("a.txt", "one\n");
    EXPECT_EQ(it.after(ChangeType::created, "a.txt"), "Created a.txt block by source:disk");
    EXPECT_EQ(it.text_of("a.txt"), "two\n");
}

TEST(DiskIntake, ARenamedFileKeepsItsBlockAndItsUnsavedEdits) {
    Intake it;
    it.office.files.put("a.txt", "one\ntwo\n");
    const std::string block = it.block_of("a.txt");
    it.office.edit("a.txt", "one", "ONE");
    it.office.files.erase("a.txt");
    it.office.files.put("b.txt", "one\ntwo\nthree\n");

    EXPECT_EQ(it.after(ChangeType::renamed, "b.txt", "a.txt"),
              "Renamed a.txt -> b.txt block by source:disk");

    EXPECT_EQ(it.block_of("b.txt"), block);
    EXPECT_EQ(it.text_of("b.txt"), "ONE\ntwo\nthree\n");
    EXPECT_EQ(it.text_of("a.txt"), "<none>");
    it.office.restart();
    EXPECT_EQ(it.office.text("b.txt"), "ONE\ntwo\nthree\n");
}

TEST(DiskIntake, APrivateCopyFollowsItsRenamedFile) {
    Intake it;
    const auto calls = [&] { return it.office.calls.get(); };
    it.office.files.put("a.txt", "one\ntwo\n");
    ASSERT_TRUE(it.office.ask<FileVersion>(
        [&](auto reply) { calls()->stage(FileOffice::as("ada"), "a.txt", std::move(reply)); }));
    ASSERT_EQ(it.office.edit("a.txt", "two", "TWO"), "ok");
    it.office.files.erase("a.txt");
    it.office.files.put("b.txt", "one\ntwo\n");

    it.after(ChangeType::renamed, "b.txt", "a.txt");

    EXPECT_EQ(it.office.text("b.txt"), "one\ntwo\n");
    ASSERT_EQ(it.office.edit("b.txt", "one", "ONE"), "ok");
    EXPECT_EQ(it.office.text("b.txt"), "one\ntwo\n");
    ASSERT_TRUE(it.office.ask<FileUnstaged>([&](auto reply) {
        calls()->unstage(FileOffice::as("ada"), "b.txt", true, std::move(reply));
    }));
    EXPECT_EQ(it.office.text("b.txt"), "ONE\nTWO\n");
}

TEST(DiskIntake, ARenameOntoTheNameOfAnotherDocumentIsNone) {
    Intake it;
    it.office.files.put("a.txt", "one\n");
    it.office.files.put("b.txt", "two\n");
    const std::string a = it.block_of("a.txt"), b = it.block_of("b.txt");
    it.office.files.erase("a.txt");
    it.office.files.put("b.txt", "one\n");

    EXPECT_EQ(it.after(ChangeType::renamed, "b.txt", "a.txt"),
              "Deleted a.txt block by source:disk, Created b.txt block by source:disk");

    EXPECT_EQ(it.block_of("b.txt"), b);
    EXPECT_EQ(it.text_of("b.txt"), "one\n");
}

}  // namespace
}  // namespace quire::kernel
