// A store notices what happened to its own files: a log that does not lead as far as it did, files
// that are gone from their paths. And an empty log leaves little to be damaged.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/concat.h"
#include "store/history_for_test.h"
#include "store/store.h"
#include "store/test_disk.h"

namespace quire::store {
namespace {

constexpr int kCommits = 10;
constexpr std::size_t kLogHeader = 32;
constexpr std::size_t kFrame = 24 + 4096;

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Frames of the log that are not zeros.
std::size_t frames_in(const std::string& log) {
    const std::string bytes = content_of(log);
    std::size_t count = 0;
    for (std::size_t at = kLogHeader; at + kFrame <= bytes.size() && bytes[at + 3] != 0;
         at += kFrame)
        ++count;
    return count;
}

bool comes_true(auto condition) {
    for (int i = 0; i < 6000; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

// The history in the database, without its log.
int length_alone(const TestDirectory& directory) {
    const TestDirectory alone(quick_parent());
    replace_file(alone / "quire.db", directory / "quire.db");
    const auto opened = open_sqlite(alone / "quire.db");
    return opened ? history_length(*opened->store) : -1;
}

TEST(StoreLog, ASecondAfterTheLastCommitTheDatabaseAloneHoldsEverything) {
    const TestDirectory directory(quick_parent());
    const auto store = open_at(directory);
    const auto began = std::chrono::steady_clock::now();
    ASSERT_TRUE(commit(*store, numbered(0)));
    const int at_first = length_alone(directory);
    // A slow machine may take the second for the look alone.
    if (std::chrono::steady_clock::now() - began < std::chrono::seconds(1)) {
        ASSERT_EQ(at_first, 0);
    }
    EXPECT_TRUE(comes_true([&] { return length_alone(directory) == 1; }));
}

TEST(StoreLog, OfAKilledStoreIsMovedIntoTheDatabaseAndWrittenAgain) {
    const TestDirectory directory(quick_parent());
    leave_killed_store(directory, kCommits);
    {
        const auto store = open_at(directory);
        ASSERT_TRUE(comes_true([&] { return length_alone(directory) == kCommits; }));
        ASSERT_TRUE(commit(*store, numbered(kCommits)));
        EXPECT_EQ(length_alone(directory), kCommits);
    }
    EXPECT_EQ(history_length(*open_at(directory)), kCommits + 1);
}

TEST(StoreLog, DamageAnywhereInItAfterASilenceCostsNothing) {
    const TestDirectory whole(quick_parent());
    const pid_t child = ::fork();
    if (child == 0) {
        const auto store = open_at(whole);
        for (int i = 0; i < kCommits; ++i) static_cast<void>(commit(*store, numbered(i)));
        const bool moved = comes_true([&] { return length_alone(whole) == kCommits; });
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        ::_exit(moved ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    for (std::size_t at = 0; at < 4 * kFrame; at += 499) {
        const TestDirectory directory(quick_parent());
        for (const char* name : {"quire.db", "quire.db-wal", "last-commit"})
            replace_file(directory / name, whole / name);
        damage(directory / "quire.db-wal", at, 1);
        const Result<Opened> opened = open_sqlite(directory / "quire.db");
        ASSERT_TRUE(opened) << "byte " << at;
        EXPECT_EQ(history_length(*opened->store), kCommits) << "byte " << at;
        EXPECT_FALSE(opened->lost) << "byte " << at;
    }
}

TEST(StoreLog, AtTheEndItHasNoBytes) {
    const TestDirectory directory(quick_parent());
    ASSERT_TRUE(commit(*open_at(directory), numbered(0)));
    EXPECT_EQ(std::filesystem::file_size(directory / "quire.db-wal"), 0U);
}

TEST(StoreLog, AnEmptyStoreTakesLessThanAMegabyte) {
    const TestDirectory directory(quick_parent());
    const auto store = open_at(directory);
    ASSERT_TRUE(commit(*store, numbered(0)));
    std::uintmax_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
        bytes += entry.file_size();
    EXPECT_GT(bytes, 100'000U);
    EXPECT_LT(bytes, 1'000'000U);
}

TEST(StoreRecovery, DamageAnywhereInTheLogOfAKilledStoreIsCountedAndCostsNoEarlierBatch) {
    const TestDirectory whole(quick_parent());
    leave_killed_store(whole, kCommits);
    const std::size_t end = kLogHeader + frames_in(whole / "quire.db-wal") * kFrame;
    int losses = 0;
    for (std::size_t at = 0; at < end + 3 * kFrame; at += 1777) {
        const TestDirectory directory(quick_parent());
        for (const char* name : {"quire.db", "quire.db-wal", "last-commit"})
            replace_file(directory / name, whole / name);
        damage(directory / "quire.db-wal", at, 1);
        const std::string log = content_of(directory / "quire.db-wal");

        const Result<Opened> opened = open_sqlite(directory / "quire.db");

        ASSERT_TRUE(opened) << "byte " << at;
        const int found = history_length(*opened->store);
        ASSERT_GE(found, 0) << "byte " << at;
        const auto missing = static_cast<std::uint64_t>(kCommits - found);
        ASSERT_EQ(opened->lost.has_value(), missing > 0) << "byte " << at;
        if (missing == 0) continue;
        EXPECT_LT(at, end);
        EXPECT_EQ(opened->lost->count(), missing) << "byte " << at;
        EXPECT_EQ(opened->lost->last, static_cast<std::uint64_t>(kCommits));
        EXPECT_TRUE(content_of(opened->lost->directory + "/quire.db-wal") == log);
        ++losses;
    }
    EXPECT_GT(losses, 20);
}

TEST(StoreRecovery, ALossIsFoundOnceAndRememberedUntilItsDirectoryIsTakenAway) {
    const TestDirectory directory(quick_parent());
    leave_killed_store(directory, kCommits);
    damage(directory / "quire.db-wal", kLogHeader + kFrame, 1);
    const LostCommits lost = open_sqlite(directory / "quire.db")->lost.value();

    const Result<Opened> again = open_sqlite(directory / "quire.db");

    EXPECT_FALSE(again->lost);
    ASSERT_EQ(lost_commits(directory / "quire.db").size(), 1U);
    EXPECT_EQ(lost_commits(directory / "quire.db")[0].first, lost.first);
    EXPECT_EQ(lost_commits(directory / "quire.db")[0].directory, lost.directory);
    std::filesystem::remove_all(lost.directory);
    EXPECT_TRUE(lost_commits(directory / "quire.db").empty());
}

// Opens the store as an ordinary user, since root may write anything. Returns the refusal.
std::string refusal_for_a_user(const TestDirectory& directory) {
    if (::geteuid() == 0) {
        EXPECT_EQ(::chown(directory.path().c_str(), 65534, 65534), 0);
        for (const auto& file : std::filesystem::directory_iterator(directory.path()))
            EXPECT_EQ(::chown(file.path().c_str(), 65534, 65534), 0);
    }
    const std::string answer = directory / "answer";
    const pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
        const Result<Opened> opened = open_sqlite(directory / "quire.db");
        if (!opened) {
            std::ofstream(answer) << opened.error().reason() << ": " << opened.error().message();
        }
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return content_of(answer);
}

TEST(StoreRecovery, AFileThatMayNotBeUsedIsNamedWithTheCommandThatHelps) {
    const TestDirectory directory;
    open_at(directory).reset();
    for (const std::string file : {"quire.db", "quire.db-wal", "lock"}) {
        ASSERT_EQ(::chmod((directory / file).c_str(), 0400), 0);
        const std::string said = refusal_for_a_user(directory);
        EXPECT_TRUE(said.starts_with("store_not_writable: ")) << said;
        EXPECT_NE(said.find(cat("Run: chmod u+rw ", directory / file)), std::string::npos) << said;
        ASSERT_EQ(::chmod((directory / file).c_str(), 0600), 0);
        std::filesystem::remove(directory / "answer");
    }
    EXPECT_EQ(refusal_for_a_user(directory), "");
}

TEST(StoreRecovery, ALossIsNoticedWithAMarkThatMayOnlyBeRead) {
    const TestDirectory directory(quick_parent());
    leave_killed_store(directory, kCommits);
    damage(directory / "quire.db-wal", kLogHeader + kFrame, 1);
    ASSERT_EQ(::chmod((directory / kLastCommitFile).c_str(), 0400), 0);

    const Result<Opened> opened = open_sqlite(directory / "quire.db");

    EXPECT_TRUE(opened->lost);
}

TEST(StoreRecovery, ACountOfCommitsThatIsNotWhatWasWrittenIsAFault) {
    const TestDirectory directory(quick_parent());
    ASSERT_TRUE(commit(*open_at(directory), numbered(0)));
    const auto is_told = [&] {
        const auto faults = inspect_sqlite(directory / "quire.db")->store->faults().value();
        return std::ranges::any_of(faults, [](const StoreFault& fault) {
            return fault.what == "a row of last_commit is not what was written";
        });
    };
    ASSERT_FALSE(is_told());
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((directory / "quire.db").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(
        sqlite3_exec(database, "UPDATE last_commit SET hash = hash + 1", nullptr, nullptr, nullptr),
        SQLITE_OK);
    sqlite3_close(database);

    EXPECT_TRUE(is_told());
}

TEST(StoreRecovery, CommitsGoOnAfterALoss) {
    const TestDirectory directory(quick_parent());
    leave_killed_store(directory, kCommits);
    damage(directory / "quire.db-wal", kLogHeader + kFrame, 1);
    {
        const auto store = open_at(directory);
        ASSERT_TRUE(commit(*store, numbered(history_length(*store))));
    }
    EXPECT_FALSE(open_sqlite(directory / "quire.db")->lost);
}

TEST(StoreRecovery, TheRestOfAWriteThatWasNeverAcknowledgedIsNoDamage) {
    const TestDirectory directory(quick_parent());
    leave_killed_store(directory, kCommits);
    replace_file(directory / kLastCommitFile, directory / "earlier-commit");
    const std::size_t frames = frames_in(directory / "quire.db-wal");
    damage(directory / "quire.db-wal", kLogHeader + frames * kFrame - 1, 1);

    const Result<Opened> opened = open_sqlite(directory / "quire.db");

    EXPECT_EQ(history_length(*opened->store), kCommits - 1);
    EXPECT_FALSE(opened->lost);
    EXPECT_TRUE(lost_commits(directory / "quire.db").empty());
}

TEST(StoreRecovery, AMarkThatLagsIsNoDamage) {
    const TestDirectory directory(quick_parent());
    leave_killed_store(directory, kCommits);
    replace_file(directory / kLastCommitFile, directory / "earlier-commit");

    const Result<Opened> opened = open_sqlite(directory / "quire.db");

    EXPECT_EQ(history_length(*opened->store), kCommits);
    EXPECT_FALSE(opened->lost);
    EXPECT_FALSE(opened->has_bad_mark);
}

TEST(StoreRecovery, AMissingMarkIsNoDamage) {
    const TestDirectory directory(quick_parent());
    leave_killed_store(directory, kCommits);
    std::filesystem::remove(directory / kLastCommitFile);
    const Result<Opened> opened = open_sqlite(directory / "quire.db");
    EXPECT_FALSE(opened->lost);
    EXPECT_FALSE(opened->has_bad_mark);
}

TEST(StoreRecovery, ADamagedMarkIsSaidAndWrittenAnew) {
    const std::size_t size = 256;
    for (std::size_t at = 0; at < size; at += 5) {
        const TestDirectory directory(quick_parent());
        leave_killed_store(directory, 1);
        ASSERT_EQ(std::filesystem::file_size(directory / kLastCommitFile), size);
        damage(directory / kLastCommitFile, at, 1);
        {
            const Result<Opened> opened = open_sqlite(directory / "quire.db");
            EXPECT_TRUE(opened->has_bad_mark) << "byte " << at;
            EXPECT_FALSE(opened->lost);
        }
        EXPECT_FALSE(open_sqlite(directory / "quire.db")->has_bad_mark);
    }
}

TEST(StoreRecovery, AnEarlierDatabaseInThePlaceOfALaterOneIsALoss) {
    const TestDirectory directory(quick_parent());
    ASSERT_TRUE(commit(*open_at(directory), numbered(0)));
    replace_file(directory / "backup", directory / "quire.db");
    for (int i = 1; i < 4; ++i) ASSERT_TRUE(commit(*open_at(directory), numbered(i)));
    replace_file(directory / "quire.db", directory / "backup");

    const Result<Opened> opened = open_sqlite(directory / "quire.db");

    ASSERT_TRUE(opened->lost);
    EXPECT_EQ(opened->lost->first, 2U);
    EXPECT_EQ(opened->lost->last, 4U);
}

TEST(StoreRecovery, AnotherHistoryOfTheSameLengthLacksTheCommitThatWasAcknowledged) {
    const TestDirectory directory(quick_parent());
    const TestDirectory other(quick_parent());
    ASSERT_TRUE(commit(*open_at(directory), numbered(0)));
    ASSERT_TRUE(commit(*open_at(other), numbered(7)));
    replace_file(directory / "quire.db", other / "quire.db");

    const Result<Opened> opened = open_sqlite(directory / "quire.db");

    ASSERT_TRUE(opened->lost);
    EXPECT_EQ(opened->lost->first, 1U);
    EXPECT_EQ(opened->lost->last, 1U);
}

TEST(StoreRecovery, ADatabaseThatIsGoneIsALossOfAllItsCommits) {
    const TestDirectory directory(quick_parent());
    leave_killed_store(directory, kCommits);
    std::filesystem::remove(directory / "quire.db");

    const Result<Opened> opened = open_sqlite(directory / "quire.db");

    EXPECT_TRUE(opened->created);
    ASSERT_TRUE(opened->lost);
    EXPECT_EQ(opened->lost->count(), static_cast<std::uint64_t>(kCommits));
}

TEST(StoreCopy, ItHasWhatIsInTheLogAloneAndTheOriginalStaysAsItIs) {
    const TestDirectory directory(quick_parent());
    leave_killed_store(directory, kCommits);
    const std::string log = content_of(directory / "quire.db-wal");
    const std::string database = content_of(directory / "quire.db");
    const TestDirectory copy(quick_parent());

    ASSERT_TRUE(copy_store(directory / "quire.db", copy.path()));

    EXPECT_EQ(history_length(*open_at(copy)), kCommits);
    EXPECT_TRUE(content_of(directory / "quire.db-wal") == log);
    EXPECT_TRUE(content_of(directory / "quire.db") == database);
}

TEST(StoreCopy, AStoreThatIsOpenIsNotCopied) {
    const TestDirectory directory(quick_parent());
    const auto store = open_at(directory);
    const TestDirectory copy(quick_parent());
    EXPECT_EQ(reason(copy_store(directory / "quire.db", copy.path())), "workspace_locked");
}

TEST(StoreCopy, ItCanBeWrittenWhereTheOriginalCannot) {
    const TestDirectory directory(quick_parent());
    open_at(directory).reset();
    std::filesystem::permissions(directory / "quire.db", std::filesystem::perms::owner_read);
    const TestDirectory copy(quick_parent());
    ASSERT_TRUE(copy_store(directory / "quire.db", copy.path()));
    struct stat status = {};
    ASSERT_EQ(::stat((copy / "quire.db").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(StoreCopy, ItsAuditLogEndsAsThatOfTheOriginal) {
    const TestDirectory directory(quick_parent());
    ASSERT_TRUE(commit(*open_at(directory), {.audit = {"one"}}));
    const auto store =
        std::move(open_sqlite(directory / "quire.db", {.keeps_audit = false})->store);
    EXPECT_TRUE(store->note("two"));
    ASSERT_TRUE(commit(*store, {.audit = {"three"}}));
    EXPECT_EQ(store->audit_after(0, 9)->size(), 1U);
}

// A store in a directory of its own, whose rescue notes what the store holds.
class RemovedStore : public ::testing::Test {
protected:
    void SetUp() override {
        std::filesystem::create_directory(state());
        store_ = std::move(
            open_sqlite(state() + "/quire.db", {.rescue =
                                                    [this](Store& store) {
                                                        ++rescues_;
                                                        rescued_ = history_length(store);
                                                        return Result<std::string>("a safe place");
                                                    }})
                ->store);
        ASSERT_TRUE(commit(*store_, numbered(0)));
    }
    std::string state() const { return directory_ / "state"; }

    const TestDirectory directory_{quick_parent()};
    int rescues_ = 0;
    int rescued_ = -1;
    std::unique_ptr<Store> store_;
};

TEST_F(RemovedStore, NothingIsAcknowledgedAndEverythingIsRescuedOnce) {
    std::filesystem::remove_all(state());

    const Result<void> first = commit(*store_, numbered(1));
    const Result<void> second = commit(*store_, numbered(2));

    EXPECT_EQ(reason(first), "workspace_removed");
    EXPECT_EQ(first.error().details().find("directory")->as_string(), "a safe place");
    EXPECT_NE(first.error().message().find("a safe place"), std::string::npos);
    EXPECT_EQ(reason(second), "workspace_removed");
    EXPECT_EQ(rescues_, 1);
    EXPECT_EQ(rescued_, 2);  // The batch that was refused is among it.
}

TEST_F(RemovedStore, ItIsNoticedByTheNextThatIsToBeAcknowledgedAndNotByANote) {
    std::filesystem::remove_all(state());
    ASSERT_TRUE(commit(*store_, {.audit = {"noted"}}));
    EXPECT_EQ(rescues_, 0);
    EXPECT_EQ(reason(commit(*store_, numbered(1))), "workspace_removed");
    EXPECT_EQ(rescues_, 1);
}

TEST_F(RemovedStore, ItIsRescuedAtItsEndIfNothingCameBefore) {
    std::filesystem::remove_all(state());
    store_.reset();
    EXPECT_EQ(rescues_, 1);
    EXPECT_EQ(rescued_, 1);
}

TEST_F(RemovedStore, EachOfItsFilesCounts) {
    for (const char* name : {"lock", "quire.db", "quire.db-wal"}) {
        const TestDirectory directory(quick_parent());
        const auto store = open_at(directory);
        ASSERT_TRUE(commit(*store, numbered(0)));
        std::filesystem::rename(directory / name, directory / "elsewhere");
        EXPECT_EQ(reason(commit(*store, numbered(1))), "workspace_removed") << name;
    }
}

TEST_F(RemovedStore, AFileOfTheSameNameIsNotTheFile) {
    std::filesystem::copy_file(state() + "/quire.db", state() + "/copy");
    std::filesystem::rename(state() + "/copy", state() + "/quire.db");
    EXPECT_EQ(reason(commit(*store_, numbered(1))), "workspace_removed");
}

TEST_F(RemovedStore, AStoreThatIsMovedAwayKeepsWhatWasAcknowledged) {
    std::filesystem::rename(state(), directory_ / "moved");
    EXPECT_EQ(reason(commit(*store_, numbered(1))), "workspace_removed");
    store_.reset();
    EXPECT_GE(history_length(*open_sqlite(directory_ / "moved/quire.db")->store), 1);
}

TEST_F(RemovedStore, ItsEndLeavesTheStoreThatTookItsPlaceAlone) {
    std::filesystem::remove_all(state());
    std::filesystem::create_directory(state());
    const auto next = std::move(open_sqlite(state() + "/quire.db")->store);
    ASSERT_TRUE(commit(*next, numbered(0)));
    const std::string log = content_of(state() + "/quire.db-wal");
    ASSERT_EQ(reason(commit(*store_, numbered(1))), "workspace_removed");

    store_.reset();

    EXPECT_TRUE(content_of(state() + "/quire.db-wal") == log);
}

}  // namespace
}  // namespace quire::store
