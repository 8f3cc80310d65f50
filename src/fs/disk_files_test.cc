// Behaviour that only a real disk has: modes, links from outside, racing programs, and being
// killed.
#include "fs/disk_files.h"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/test_directory.h"
#include "fs/draft_names.h"
#include "fs/reason_for_test.h"

namespace quire::fs {
namespace {

std::unique_ptr<DiskFiles> open(const TestDirectory& directory,
                                Function<void(std::string_view)> after_step = {},
                                std::uint64_t incarnation = 1) {
    return std::move(
        DiskFiles::open(directory.path(), {incarnation, std::move(after_step)}).value());
}

std::size_t drafts_in(const TestDirectory& directory) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
        if (is_draft(entry.path().filename().string())) ++count;
    }
    return count;
}

struct stat status_of(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status;
}

TEST(DiskFiles, AnAbsolutePathBelowTheDirectoryIsTheFileThere) {
    const TestDirectory directory;
    directory.put("d/x", "");
    const TestDirectory elsewhere;
    elsewhere.link("way", directory.path());
    const auto files = open(directory);

    EXPECT_EQ(files->resolve(directory / "d/x")->path, "d/x");
    EXPECT_EQ(files->resolve(directory / "d/../new")->path, "new");
    EXPECT_EQ(files->resolve(elsewhere / "way/d/x")->path, "d/x");
    EXPECT_EQ(files->resolve(directory.path())->kind, Kind::directory);
    EXPECT_EQ(reason(files->resolve(directory / "../x")), "outside_workspace");
    EXPECT_EQ(reason(files->resolve(elsewhere / "x")), "outside_workspace");
}

TEST(DiskFiles, NothingIsWrittenWhileTheDirectorysPathLeadsElsewhere) {
    const TestDirectory outer;
    std::filesystem::create_directory(outer / "work");
    const auto files = std::move(DiskFiles::open(outer / "work", {1, {}}).value());
    const Saved first = files->create("x", "one\n").value();
    std::filesystem::rename(outer / "work", outer / "moved");

    EXPECT_EQ(reason(files->save("x", "two\n", first.hash)), "workspace_removed");
    EXPECT_EQ(reason(files->create("y", "two\n")), "workspace_removed");
    EXPECT_EQ(reason(files->remove("x", first.hash)), "workspace_removed");
    std::filesystem::create_directory(outer / "work");
    EXPECT_EQ(reason(files->save("x", "two\n", first.hash)), "workspace_removed");
    EXPECT_TRUE(std::filesystem::is_empty(outer / "work"));
    EXPECT_EQ(files->read("x", 100)->bytes, "one\n");

    std::filesystem::remove(outer / "work");
    std::filesystem::rename(outer / "moved", outer / "work");
    EXPECT_TRUE(files->save("x", "two\n", first.hash));
}

TEST(DiskFiles, ASaveKeepsModeOwnerAndAttributes) {
    const TestDirectory directory;
    directory.put("run.sh", "old");
    ASSERT_EQ(::chmod((directory / "run.sh").c_str(), 0751), 0);
    const bool is_root = ::geteuid() == 0;
    if (is_root) {
        ASSERT_EQ(::chown((directory / "run.sh").c_str(), 1234, 2345), 0);
    }
    ASSERT_EQ(::setxattr((directory / "run.sh").c_str(), "user.origin", "here", 4, 0), 0);
    const auto files = open(directory);

    const auto saved = files->save("run.sh", "new", Hash::of("old"));

    ASSERT_TRUE(saved) << saved.error().message();
    EXPECT_TRUE(saved->notes.empty());
    const struct stat status = status_of(directory / "run.sh");
    EXPECT_EQ(status.st_mode & 07777, 0751U);
    if (is_root) {
        EXPECT_EQ(status.st_uid, 1234U);
        EXPECT_EQ(status.st_gid, 2345U);
    }
    char value[8] = {};
    EXPECT_EQ(::getxattr((directory / "run.sh").c_str(), "user.origin", value, sizeof value), 4);
    EXPECT_EQ(std::string(value), "here");
    EXPECT_EQ(directory.get("run.sh"), "new");
    EXPECT_EQ(drafts_in(directory), 0U);
}

TEST(DiskFiles, ASetUserIdBitIsDroppedAndReported) {
    const TestDirectory directory;
    directory.put("tool", "old");
    ASSERT_EQ(::chmod((directory / "tool").c_str(), 04755), 0);

    const auto saved = open(directory)->save("tool", "new", Hash::of("old"));

    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->notes.size(), 1U);
    EXPECT_EQ(status_of(directory / "tool").st_mode & 07777, 0755U);
}

TEST(DiskFiles, AFileWithSeveralNamesIsNotSaved) {
    const TestDirectory directory;
    directory.put("a", "old");
    ASSERT_EQ(::link((directory / "a").c_str(), (directory / "b").c_str()), 0);

    EXPECT_EQ(reason(open(directory)->save("a", "new", Hash::of("old"))), "hard_linked");
    EXPECT_EQ(directory.get("b"), "old");
}

TEST(DiskFiles, FifosSocketsAndDevicesAreNamedAndNeverWaitedFor) {
    const TestDirectory directory;
    ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
    const auto files = open(directory);

    const auto read = files->read("fifo", kLimit);

    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().reason(), "not_a_file");
    EXPECT_EQ(*read.error().details().find("kind"), Value("fifo"));
    EXPECT_EQ(reason(files->save("fifo", "x", Hash::of(""))), "not_a_file");
    EXPECT_EQ(reason(files->create("fifo", "x")), "file_exists");
    EXPECT_TRUE(files->list(10, {})->entries.empty());
}

TEST(DiskFiles, AChangeBetweenTheCheckAndTheExchangeIsPutBack) {
    const TestDirectory directory;
    directory.put("a", "old");
    for (const bool in_place : {true, false}) {
        const auto files = open(directory, [&](std::string_view step) {
            if (step != "synced") return;
            directory.put(in_place ? "a" : "other", "theirs");
            if (!in_place) std::filesystem::rename(directory / "other", directory / "a");
        });
        directory.put("a", "old");

        EXPECT_EQ(reason(files->save("a", "ours", Hash::of("old"))), "disk_changed");

        EXPECT_EQ(directory.get("a"), "theirs");
        EXPECT_EQ(drafts_in(directory), 0U);
    }
}

TEST(DiskFiles, AFileReplacedDuringASaveWinsAndNothingIsLost) {
    const TestDirectory directory;
    directory.put("a", "old");
    const auto files = open(directory, [&](std::string_view step) {
        if (step == "synced") directory.put("a", "theirs");
        if (step == "exchanged") {
            directory.put("other", "newest");
            std::filesystem::rename(directory / "other", directory / "a");
        }
    });

    EXPECT_EQ(reason(files->save("a", "ours", Hash::of("old"))), "disk_changed");

    EXPECT_EQ(directory.get("a"), "newest");
    // "theirs", which nobody but the disk had seen, is out of everybody's way.
    EXPECT_EQ(drafts_in(directory), 0U);
    const std::filesystem::directory_iterator kept(directory / ".quire/recovered");
    EXPECT_EQ(directory.get(cat(".quire/recovered/", kept->path().filename().string())), "theirs");
}

TEST(DiskFiles, ALinkThatTakesTheFilesPlaceIsNotWrittenThrough) {
    const TestDirectory directory, outside;
    outside.put("secret", "secret");
    directory.put("a", "old");
    const auto files = open(directory, [&](std::string_view step) {
        if (step != "synced") return;
        directory.erase("a");
        directory.link("a", outside / "secret");
    });

    EXPECT_NE(reason(files->save("a", "ours", Hash::of("old"))), "ok");

    EXPECT_EQ(outside.get("secret"), "secret");
    EXPECT_TRUE(std::filesystem::is_symlink(directory / "a"));
}

TEST(DiskFiles, ADeleteThatMeetsAnotherFilePutsItBack) {
    const TestDirectory directory;
    directory.put("a", "old");
    const auto files = open(directory, [&](std::string_view step) {
        if (step == "checked") directory.put("a", "theirs");
    });

    EXPECT_EQ(reason(files->remove("a", Hash::of("old"))), "disk_changed");
    EXPECT_EQ(directory.get("a"), "theirs");
    EXPECT_EQ(drafts_in(directory), 0U);
}

// Runs `act` in a process of its own that is gone after `step`.
template <class F>
void die_after(const TestDirectory& directory, const std::string& step, F act) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const auto files = open(
            directory,
            [&](std::string_view done) {
                if (done == step) ::_exit(7);
            },
            99);
        act(*files);
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), 7) << "the save never came to " << step;
}

TEST(DiskFiles, AnInterruptedSaveLeavesAllOfTheOldOrAllOfTheNew) {
    const std::string before(100'000, 'o');
    const std::string after(120'000, 'n');
    for (const std::string step : {"checked", "written", "synced", "exchanged", "done"}) {
        const TestDirectory directory;
        directory.put("a", before);

        die_after(directory, step,
                  [&](DiskFiles& files) { (void)files.save("a", after, Hash::of(before)); });

        const bool is_new = step == "exchanged" || step == "done";
        EXPECT_EQ(directory.get("a") == (is_new ? after : before), true) << step;
        const auto next = open(directory);
        const std::size_t litter = step == "checked" || step == "done" ? 0 : 1;
        EXPECT_EQ(drafts_in(directory), litter) << step;
        EXPECT_EQ(next->sweep().value(), litter) << step;
        EXPECT_EQ(drafts_in(directory), 0U) << step;
        EXPECT_EQ(next->sweep().value(), 0U) << step;
    }
}

TEST(DiskFiles, ACreateThatIsCutShortLeavesNothingOrAll) {
    for (const std::string step : {"written", "synced", "done"}) {
        const TestDirectory directory;

        die_after(directory, step, [](DiskFiles& files) { (void)files.create("a", "new"); });

        EXPECT_EQ(directory.has("a"), step == "done");
        if (step == "done") {
            EXPECT_EQ(directory.get("a"), "new");
        }
    }
}

// /dev/shm is another file system than /tmp on most machines; where it is not, a rename does.
TEST(DiskFiles, DraftsAreSweptIntoAnotherDirectory) {
    const std::string shared_memory = "/dev/shm";
    if (::access(shared_memory.c_str(), W_OK) != 0) GTEST_SKIP() << "there is no /dev/shm";
    const TestDirectory directory(shared_memory);
    const TestDirectory other;
    const std::string bytes(3'000'001, 'x');
    const std::string draft = draft_name(7, 3);
    directory.put(".quire", "a file");
    directory.put(cat("in/", draft), bytes);
    const auto files = open(directory);
    const auto keeper = open(other);

    EXPECT_EQ(files->sweep_into(*keeper).value(), 1U);
    EXPECT_FALSE(directory.has(cat("in/", draft)));
    EXPECT_EQ(other.get(cat(".quire/recovered/", draft)) == bytes, true);
}

TEST(DiskFiles, TheSweepLeavesItsOwnDraftsAlone) {
    const TestDirectory directory;
    std::size_t swept = 99;
    DiskFiles* self = nullptr;
    const auto files = open(directory, [&](std::string_view step) {
        if (step == "written") swept = self->sweep().value();
    });
    self = files.get();

    EXPECT_EQ(reason(files->create("a", "new")), "ok");
    EXPECT_EQ(swept, 0U);
}

TEST(DiskFiles, AFullDiskChangesNothing) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a small file system";
    const TestDirectory directory;
    if (::mount("none", directory.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
        GTEST_SKIP() << "cannot mount a small file system: errno " << errno;
    }
    directory.put("a", "old");
    {
        const auto files = open(directory);

        EXPECT_EQ(reason(files->save("a", std::string(200'000, 'x'), Hash::of("old"))),
                  "disk_full");
        EXPECT_EQ(reason(files->create("b", std::string(200'000, 'x'))), "disk_full");

        EXPECT_EQ(directory.get("a"), "old");
        EXPECT_FALSE(directory.has("b"));
        EXPECT_EQ(drafts_in(directory), 0U);
        EXPECT_EQ(reason(files->save("a", "new", Hash::of("old"))), "ok");
    }
    EXPECT_EQ(::umount2(directory.path().c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace quire::fs
