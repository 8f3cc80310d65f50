// Faults that a disk may have: it refuses, fails, loses power, or holds garbage.
#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/concat.h"
#include "store/audit_chain.h"
#include "store/faulty_vfs.h"
#include "store/history_for_test.h"
#include "store/store.h"
#include "store/test_disk.h"

namespace quire::store {
namespace {

using Fault = FaultyVfs::Fault;

constexpr int kBatches = 24;

// Statements that bring a database back to before names had owners.
#define OWNERLESS                                                             \
    "DROP TABLE last_commit; ALTER TABLE units DROP COLUMN committed; "       \
    "DROP INDEX documents_by_name; ALTER TABLE documents DROP COLUMN owner; " \
    "CREATE UNIQUE INDEX documents_by_name ON documents(kind, name) WHERE deleted = 0; "

// Hands over the history, all at once or each after the answer to the one before; how many were
// acknowledged.
int write_history(Store& store, bool pipelined) {
    std::vector<std::future<Result<void>>> answers;
    int acknowledged = 0;
    for (int i = 0; i < kBatches; ++i) {
        answers.push_back(start(store, numbered(i)));
        if (!pipelined) answers.back().wait();
    }
    bool failed = false;
    for (auto& answer : answers) {
        const bool done = answer.get().has_value();
        EXPECT_FALSE(done && failed) << "a batch was acknowledged after one before it had failed";
        failed = failed || !done;
        acknowledged += done;
    }
    return acknowledged;
}

TEST(StoreFaults, AfterAnyFailedFlushNothingIsAcknowledged) {
    for (std::int64_t at = 0;; ++at) {
        const TestDirectory directory(quick_parent());
        open_at(directory).reset();
        int acknowledged = 0;
        bool struck = false;
        {
            FaultyVfs disk;
            const auto store = open_at(directory);
            disk.arm(Fault::flush_error, at, false);
            acknowledged = write_history(*store, at % 2 == 0);
            struck = disk.has_struck();
            if (struck) {
                const Result<void> later = commit(*store, numbered(99));
                ASSERT_FALSE(later) << "flush " << at;
                EXPECT_EQ(later.error().reason(), "store_failed");
            }
        }
        const int found = history_length(*open_at(directory));
        EXPECT_GE(found, acknowledged) << "flush " << at;
        if (!struck) {
            EXPECT_EQ(acknowledged, kBatches);
            EXPECT_GT(at, 1);
            break;
        }
    }
}

TEST(StoreFaults, IfAnyWriteFindsTheDiskFullItsBatchIsRefusedAndLaterOnesAreTaken) {
    int strikes = 0;
    for (std::int64_t at = 0; at < 400; ++at) {
        const TestDirectory directory(quick_parent());
        open_at(directory).reset();
        {
            FaultyVfs disk;
            const auto store = open_at(directory);
            disk.arm(Fault::disk_full, at, false);
            std::vector<int> kept;
            for (int i = 0; i < 8; ++i) {
                const Result<void> result =
                    commit(*store, {.updates = {{1, Bytes(3, static_cast<std::uint8_t>(i))}}});
                if (result) {
                    kept.push_back(i);
                } else {
                    EXPECT_EQ(result.error().reason(), "disk_full") << "write " << at;
                    store->unfence(1);
                }
            }
            std::vector<int> found;
            const StoredDocument stored = store->load(1).value();
            for (const Bytes& update : stored.updates) found.push_back(update.at(0));
            EXPECT_EQ(found, kept) << "write " << at;
            EXPECT_GE(kept.size(), 7U) << "write " << at;
            if (!disk.has_struck()) break;
            ++strikes;
        }
    }
    EXPECT_GT(strikes, 10);
}

TEST(StoreFaults, IfAnyWriteFailsTheStoreStopsAndAcknowledgedBatchesAreThere) {
    for (std::int64_t at = 0; at < 400; at += 3) {
        const TestDirectory directory(quick_parent());
        open_at(directory).reset();
        int acknowledged = 0;
        bool struck = false;
        {
            FaultyVfs disk;
            const auto store = open_at(directory);
            disk.arm(Fault::write_error, at, false);
            acknowledged = write_history(*store, at % 2 == 0);
            struck = disk.has_struck();
        }
        EXPECT_GE(history_length(*open_at(directory)), acknowledged) << "write " << at;
        if (!struck) break;
        EXPECT_LT(acknowledged, kBatches) << "write " << at;
    }
}

// Runs the history with the power going out at operation `at`, and opens what may then be on the
// disk. False when the history was over before.
bool lose_power(std::int64_t at, bool pipelined, std::mt19937& random) {
    const TestDirectory directory(quick_parent());
    open_at(directory).reset();
    FaultyVfs disk;
    const std::vector<std::string> files = {directory / "quire.db", directory / "quire.db-wal"};
    disk.watch(files);
    int acknowledged = 0;
    {
        const auto store = open_at(directory);
        disk.arm(Fault::power_loss, at, true);
        acknowledged = write_history(*store, pipelined);
    }
    disk.arm(Fault::none, 0, false);
    for (int image = 0; image < 3; ++image) {
        const TestDirectory after(quick_parent());
        for (const std::string& file : files) {
            std::ofstream(after / file.substr(file.rfind('/') + 1), std::ios::binary)
                << disk.after_power_loss(file, random);
        }
        const auto store = open_at(after);
        if (store == nullptr) return false;
        const int found = history_length(*store);
        EXPECT_GE(found, acknowledged) << "operation " << at << ", image " << image;
        EXPECT_TRUE(commit(*store, numbered(found))) << "operation " << at;
    }
    return acknowledged < kBatches;
}

TEST(StoreFaults, AfterAPowerLossAtAnyMomentEveryAcknowledgedBatchIsThereAndNoneInPart) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937 random(seed);
    for (const bool pipelined : {false, true}) {
        std::int64_t at = 0;
        while (lose_power(at, pipelined, random)) ++at;
        EXPECT_GT(at, pipelined ? 5 : 60);
    }
}

// A database with enough in it to have pages in the middle.
void fill(const TestDirectory& directory) {
    const auto store = open_at(directory);
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(commit(*store, numbered(i, 2000)));
}

TEST(StoreFaults, GarbageOverTheHeaderIsNamedAndTheFileIsLeftAsItIs) {
    const TestDirectory directory(quick_parent());
    fill(directory);
    damage(directory / "quire.db", 0, 100);
    const std::string before = FaultyVfs::read_all(directory / "quire.db");

    const Result<Opened> opened = open_sqlite(directory / "quire.db");

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Errc::corrupt);
    EXPECT_NE(opened.error().message().find(directory / "quire.db"), std::string::npos)
        << opened.error().message();
    EXPECT_NE(opened.error().message().find("backup"), std::string::npos);
    EXPECT_EQ(FaultyVfs::read_all(directory / "quire.db"), before);
}

TEST(StoreFaults, GarbageInTheMiddleIsFoundWhenItIsReadAndOtherDocumentsAreAsTheyWere) {
    const TestDirectory directory(quick_parent());
    fill(directory);
    {
        const auto store = open_at(directory);
        ASSERT_TRUE(
            commit(*store, {.documents = {{.key = 1, .kind = "conversation", .name = "a"}}}));
    }
    const std::string bytes = FaultyVfs::read_all(directory / "quire.db");
    // The page in the middle that holds updates: they are what fills the file.
    damage(directory / "quire.db", bytes.size() / 2 / 4096 * 4096, 4096);

    const auto store = open_at(directory);
    const Result<StoredDocument> damaged = store->load(1);
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().code(), Errc::corrupt) << damaged.error().message();
    EXPECT_EQ(store->documents()->size(), 1U);
    EXPECT_TRUE(store->load(2)->updates.empty());
}

TEST(StoreFaults, AnEmptyFileBesideALogIsDamageAndTheLogIsKept) {
    const TestDirectory directory(quick_parent());
    open_at(directory).reset();
    const pid_t child = ::fork();
    if (child == 0) {
        const auto opened = open_sqlite(directory / "quire.db");
        static_cast<void>(commit(*opened->store, numbered(0)));
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    ASSERT_EQ(::truncate((directory / "quire.db").c_str(), 0), 0);
    const std::string log = FaultyVfs::read_all(directory / "quire.db-wal");

    const Result<Opened> opened = open_sqlite(directory / "quire.db");

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Errc::corrupt);
    EXPECT_EQ(FaultyVfs::read_all(directory / "quire.db-wal"), log);
}

TEST(StoreFaults, AnEmptyFileWhereADatabaseWasIsDamage) {
    const TestDirectory directory(quick_parent());
    open_at(directory).reset();
    ASSERT_EQ(::truncate((directory / "quire.db").c_str(), 0), 0);

    const Result<Opened> opened = open_sqlite(directory / "quire.db");

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Errc::corrupt);
    EXPECT_EQ(FaultyVfs::read_all(directory / "quire.db"), "");
}

TEST(StoreFaults, TheLogOfADatabaseThatIsGoneIsPutAsideAndNotReplayed) {
    const TestDirectory directory(quick_parent());
    const pid_t child = ::fork();
    if (child == 0) {
        const auto opened = open_sqlite(directory / "quire.db");
        static_cast<void>(commit(*opened->store, numbered(0)));
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    ASSERT_EQ(::unlink((directory / "quire.db").c_str()), 0);
    const std::string log = FaultyVfs::read_all(directory / "quire.db-wal");

    const auto store = open_at(directory);

    EXPECT_EQ(history_length(*store), 0);
    EXPECT_EQ(FaultyVfs::read_all(directory / "quire.db-wal.orphan"), log);
}

TEST(StoreFiles, OnlyTheOwnerMayReadThem) {
    const mode_t before = ::umask(0);
    const TestDirectory directory;
    {
        const auto store = open_at(directory);
        ASSERT_TRUE(commit(*store, numbered(0)));
        for (const char* name : {"quire.db", "quire.db-wal", "lock"}) {
            struct stat status = {};
            ASSERT_EQ(::stat((directory / name).c_str(), &status), 0) << name;
            EXPECT_EQ(status.st_mode & 0777U, 0600U) << name;
        }
    }
    ::umask(before);
}

TEST(StoreFiles, ASecondProcessIsToldAtOnceWhoHoldsTheWorkspace) {
    const TestDirectory directory;
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    const auto store = open_at(directory);
    const pid_t child = ::fork();
    if (child == 0) {
        const Result<Opened> second = open_sqlite(directory / "quire.db");
        const bool right = !second && second.error().reason() == "workspace_locked" &&
                           second.error().details().find("pid") != nullptr &&
                           second.error().details().find("pid")->as_int() == ::getppid();
        ::_exit(right ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(reason(open_sqlite(directory / "quire.db")), "workspace_locked");
}

TEST(StoreFiles, ALockGoesWithItsHolderHoweverThatEnds) {
    const TestDirectory directory;
    const pid_t child = ::fork();
    if (child == 0) {
        const auto opened = open_sqlite(directory / "quire.db");
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_NE(open_at(directory), nullptr);
}

TEST(StoreFiles, ADirectoryThatCannotBeWrittenIsNamed) {
    const TestDirectory directory;
    open_at(directory).reset();
    ASSERT_EQ(::chmod(directory.path().c_str(), 0555), 0);
    ASSERT_EQ(::chmod((directory / "quire.db").c_str(), 0444), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        // Root may write anywhere; nobody may not.
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(2);
        const Result<Opened> opened = open_sqlite(directory / "quire.db");
        ::_exit(reason(opened) == "store_not_writable" ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::chmod(directory.path().c_str(), 0755);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

void execute(const std::string& path, const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << message;
    sqlite3_close(database);
}

TEST(StoreFiles, AStoreOfALaterVersionIsNotTouched) {
    const TestDirectory directory;
    open_at(directory).reset();
    execute(directory / "quire.db", "PRAGMA user_version = 1000");
    const Result<Opened> opened = open_sqlite(directory / "quire.db");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().reason(), "newer_store");
    EXPECT_EQ(opened.error().code(), Errc::unsupported);
    EXPECT_EQ(opened.error().details().find("found")->as_int(), 1000);
}

// A store as the step before the approvals left it.
TEST(StoreFiles, AStoreOfAnEarlierVersionIsMigrated) {
    const TestDirectory directory;
    {
        const std::unique_ptr<Store> store = open_at(directory);
        ASSERT_TRUE(commit(*store, keeping(token("t", "a"), "v")));
    }
    execute(
        directory / "quire.db",
        "DROP TABLE approvals; DROP TABLE audit; DROP TABLE audit_origin; DROP TABLE rule_facts; "
        "DROP TABLE mount_pins; " OWNERLESS "PRAGMA user_version = 2");

    const std::unique_ptr<Store> store = open_at(directory);
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->record(token("t", "a")).value(), bytes("v"));
    EXPECT_TRUE(store->records(Table::approvals)->empty());
    EXPECT_TRUE(commit(*store, keeping(approval("ap_1"), "asked")));
    EXPECT_EQ(store->records(Table::approvals)->size(), 1U);
}

// One as the step before the audit log left it.
TEST(StoreFiles, AStoreWithoutAnAuditLogGetsOne) {
    const TestDirectory directory;
    {
        const std::unique_ptr<Store> store = open_at(directory);
        ASSERT_TRUE(commit(*store, keeping(approval("ap_1"), "asked")));
    }
    execute(directory / "quire.db",
            "DROP TABLE audit; DROP TABLE audit_origin; DROP TABLE rule_facts; "
            "DROP TABLE mount_pins; " OWNERLESS "PRAGMA user_version = 3");

    const std::unique_ptr<Store> store = open_at(directory);
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->records(Table::approvals)->size(), 1U);
    EXPECT_TRUE(store->audit_after(0, 9)->empty());
    ASSERT_TRUE(commit(*store, {.audit = {"first"}}));
    AuditWalk walk(store->audit_origin().value());
    EXPECT_FALSE(walk.take(store->audit_after(0, 9)->at(0)));
}

// One as the step before what rules count left it.
TEST(StoreFiles, AStoreWithoutATableForRuleFactsGetsOne) {
    const TestDirectory directory;
    open_at(directory).reset();
    execute(directory / "quire.db",
            "DROP TABLE rule_facts; DROP TABLE mount_pins; " OWNERLESS "PRAGMA user_version = 4");

    const std::unique_ptr<Store> store = open_at(directory);
    ASSERT_NE(store, nullptr);
    ASSERT_TRUE(commit(*store, keeping(fact("ada", "a"), "")));
    EXPECT_EQ(store->records(Table::rule_facts)->size(), 1U);
}

// One as the step before names had owners left it.
TEST(StoreFiles, AStoreWithoutOwnersOfNamesKeepsItsDocuments) {
    const TestDirectory directory;
    {
        const std::unique_ptr<Store> store = open_at(directory);
        ASSERT_TRUE(commit(*store, {.documents = {{1, "memory", "persona", false, bytes("h")}}}));
    }
    execute(directory / "quire.db", OWNERLESS "PRAGMA user_version = 6");

    const std::unique_ptr<Store> store = open_at(directory);
    ASSERT_NE(store, nullptr);
    std::vector<DocumentRecord> known = store->documents().value();
    ASSERT_EQ(known.size(), 1U);
    EXPECT_EQ(known[0].name, "persona");
    EXPECT_EQ(known[0].owner, "");
    known[0].owner = "agent:ada";
    ASSERT_TRUE(commit(*store, {.documents = {known[0]}}));
    DocumentRecord other{2, "memory", "persona", false, bytes("h"), "agent:bo"};
    ASSERT_TRUE(commit(*store, {.documents = {other}}));
    other.key = 3;
    EXPECT_FALSE(commit(*store, {.documents = {other}}));
    EXPECT_EQ(store->documents()->at(0).owner, "agent:ada");
}

// One as the step before the mounts left it.
TEST(StoreFiles, AStoreWithoutPinsGetsATableForThem) {
    const TestDirectory directory;
    open_at(directory).reset();
    execute(directory / "quire.db", "DROP TABLE mount_pins; " OWNERLESS "PRAGMA user_version = 5");

    const std::unique_ptr<Store> store = open_at(directory);
    ASSERT_NE(store, nullptr);
    ASSERT_TRUE(commit(*store, keeping(pin("fs"), "")));
    EXPECT_EQ(store->records(Table::mount_pins)->size(), 1U);
}

TEST(StoreFiles, NoTwoWorkspacesBeginTheirAuditLogsAlike) {
    const TestDirectory one;
    const TestDirectory other;
    EXPECT_NE(open_at(one)->audit_origin().value(), open_at(other)->audit_origin().value());
}

TEST(StoreFiles, RowsInsertedBeforeTheFirstAuditEntryAreReadAsEntryZero) {
    const TestDirectory directory;
    ASSERT_TRUE(commit(*open_at(directory), {.audit = {"one"}}));
    execute(directory / "quire.db", "INSERT INTO audit VALUES(-1, 'x', ''), (0, 'y', '')");
    const std::unique_ptr<Store> store = open_at(directory);
    EXPECT_EQ(store->audit_after(0, 9)->size(), 1U);
    const std::vector<AuditEntry> before = store->audit_before(1, 9).value();
    ASSERT_EQ(before.size(), 2U);
    EXPECT_EQ(before[0].seq, 0U);
    EXPECT_EQ(before[1].seq, 0U);
}

TEST(StoreFiles, SqlThatWouldChangeTheAuditLogIsRefused) {
    const TestDirectory directory;
    ASSERT_TRUE(commit(*open_at(directory), {.audit = {"one", "two"}}));
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((directory / "quire.db").c_str(), &database), SQLITE_OK);
    for (const char* sql : {"DELETE FROM audit WHERE seq = 2", "DELETE FROM audit",
                            "UPDATE audit SET body = 'three' WHERE seq = 1"}) {
        EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_CONSTRAINT) << sql;
    }
    sqlite3_close(database);
    EXPECT_EQ(open_at(directory)->audit_after(0, 9)->size(), 2U);
}

TEST(StoreFiles, ADatabaseOfAnotherProgramIsNotTouched) {
    const TestDirectory directory;
    execute(directory / "quire.db", "CREATE TABLE theirs(x)");
    const Result<Opened> opened = open_sqlite(directory / "quire.db");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Errc::corrupt);
}

TEST(StoreFiles, TheFirstOpeningSaysThatItMadeTheStore) {
    const TestDirectory directory;
    EXPECT_TRUE(open_sqlite(directory / "quire.db")->created);
    EXPECT_FALSE(open_sqlite(directory / "quire.db")->created);
}

}  // namespace
}  // namespace quire::store
