// Databases that were damaged behind the store's back: in a row's content, or in whole pages.
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/concat.h"
#include "store/store.h"
#include "store/test_disk.h"

namespace quire::store {
namespace {

constexpr int kDocuments = 40;

std::unique_ptr<Store> store_of(Result<Opened> made) {
    EXPECT_TRUE(made) << made.error().message();
    return made ? std::move(made->store) : nullptr;
}
std::unique_ptr<Store> opened(const TestDirectory& directory) {
    return store_of(open_sqlite(directory / "quire.db"));
}
std::unique_ptr<Store> inspected(const TestDirectory& directory) {
    return store_of(inspect_sqlite(directory / "quire.db"));
}

// A document for each key from 1 on, with updates of its own.
void write_documents(const TestDirectory& directory) {
    const auto store = opened(directory);
    for (DocumentKey key = 1; key <= kDocuments; ++key) {
        Batch batch;
        batch.documents = {{.key = key, .kind = "memory", .name = cat("n", key)}};
        batch.documents[0].header = Bytes(900, static_cast<std::uint8_t>(key));
        for (int i = 0; i < 3; ++i)
            batch.updates.push_back({key, Bytes(1500, static_cast<std::uint8_t>(key))});
        ASSERT_TRUE(commit(*store, std::move(batch)));
    }
}

void tamper(const TestDirectory& directory, const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((directory / "quire.db").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
}

// The pages of a table's or an index's leaves, by their number.
std::vector<std::int64_t> leaves_of(const TestDirectory& directory, const std::string& name) {
    std::vector<std::int64_t> pages;
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open((directory / "quire.db").c_str(), &database), SQLITE_OK);
    const std::string sql =
        cat("SELECT pageno FROM dbstat WHERE name = '", name, "' AND pagetype = 'leaf'");
    EXPECT_EQ(
        sqlite3_exec(
            database, sql.c_str(),
            [](void* to, int, char** columns, char**) {
                static_cast<std::vector<std::int64_t>*>(to)->push_back(std::stoll(columns[0]));
                return 0;
            },
            &pages, nullptr),
        SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
    return pages;
}

void wreck_page(const TestDirectory& directory, std::int64_t page) {
    std::fstream file(directory / "quire.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * 4096);
    file.write(std::string(4096, '\x5a').data(), 4096);
}

std::vector<DocumentKey> damaged_keys(Store& store) {
    std::vector<DocumentKey> keys;
    const std::vector<DocumentRecord> documents = store.documents().value();
    for (const DocumentRecord& record : documents) {
        if (record.damaged) keys.push_back(record.key);
    }
    return keys;
}

TEST(ReadableRows, ARowThatIsNotWhatWasWrittenIsADamagedDocumentAmongTheOthers) {
    const TestDirectory directory(quick_parent());
    write_documents(directory);
    tamper(directory, "UPDATE documents SET deleted = 1 WHERE document = 7");

    const auto store = inspected(directory);

    EXPECT_EQ(store->documents()->size(), std::size_t{kDocuments});
    EXPECT_EQ(damaged_keys(*store), std::vector<DocumentKey>{7});
    EXPECT_FALSE(store->documents()->at(6).deleted);
}

TEST(ReadableRows, ADocumentWhoseRowIsGoneIsMissedByTheIndexOfNames) {
    const TestDirectory directory(quick_parent());
    write_documents(directory);
    const std::vector<std::int64_t> leaves = leaves_of(directory, "documents");
    ASSERT_GT(leaves.size(), 2U);
    std::fstream file(directory / "quire.db", std::ios::in | std::ios::out | std::ios::binary);
    // The number of cells of a leaf is at its third byte: the last one is forgotten.
    const std::int64_t count_at = (leaves[1] - 1) * 4096 + 3;
    file.seekg(count_at);
    char count[2] = {};
    file.read(count, 2);
    count[1] = static_cast<char>(count[1] - 1);
    file.seekp(count_at);
    file.write(count, 2);
    file.close();

    const auto store = inspected(directory);

    EXPECT_EQ(store->documents()->size(), std::size_t{kDocuments});
    EXPECT_EQ(damaged_keys(*store).size(), 1U);
    EXPECT_NE(store->documents()->at(damaged_keys(*store).at(0) - 1).name, "");
}

TEST(ReadableRows, AWreckedPageOfDocumentsCostsThoseOnItAlone) {
    const TestDirectory directory(quick_parent());
    write_documents(directory);
    const std::vector<std::int64_t> leaves = leaves_of(directory, "documents");
    ASSERT_GT(leaves.size(), 4U);
    for (const std::size_t at : {std::size_t{0}, leaves.size() / 2, leaves.size() - 1}) {
        const TestDirectory copy(quick_parent());
        copy.put("quire.db", directory.get("quire.db"));
        wreck_page(copy, leaves[at]);

        const auto store = inspected(copy);

        EXPECT_EQ(store->documents()->size(), std::size_t{kDocuments}) << at;
        const std::size_t damaged = damaged_keys(*store).size();
        EXPECT_GE(damaged, 1U) << at;
        EXPECT_LE(damaged, 5U) << at;
    }
}

TEST(ReadableRows, AWreckedPageOfUpdatesCostsTheUpdatesOnItAndSaysWhich) {
    const TestDirectory directory(quick_parent());
    write_documents(directory);
    const std::vector<std::int64_t> leaves = leaves_of(directory, "updates");
    ASSERT_GT(leaves.size(), 10U);
    wreck_page(directory, leaves[leaves.size() / 2]);

    const auto store = inspected(directory);

    std::size_t read = 0;
    std::size_t faulty = 0;
    for (DocumentKey key = 1; key <= kDocuments; ++key) {
        const ReadableDocument document = store->load_readable(key).value();
        read += document.stored.updates.size();
        faulty += !document.faults.empty();
        if (document.stored.updates.size() < 3) {
            EXPECT_FALSE(document.faults.empty()) << key;
        }
    }
    EXPECT_GE(read, std::size_t{3 * kDocuments - 8});
    EXPECT_GE(faulty, 1U);
    EXPECT_LE(faulty, 4U);
}

TEST(ReadableRows, AnUpdateMissingInTheMiddleIsSaidToBe) {
    const TestDirectory directory(quick_parent());
    write_documents(directory);
    tamper(directory, "DELETE FROM updates WHERE document = 3 AND sequence = 2");

    const ReadableDocument document = inspected(directory)->load_readable(3).value();

    ASSERT_EQ(document.faults.size(), 1U);
    EXPECT_EQ(document.faults[0], "update 2 missing");
    EXPECT_EQ(document.stored.updates.size(), 2U);
}

TEST(ReadableRows, TheKeyOfALostDocumentIsNotGivenOutAgain) {
    const TestDirectory directory(quick_parent());
    write_documents(directory);
    tamper(directory, cat("DELETE FROM documents WHERE document = ", kDocuments));

    EXPECT_EQ(inspected(directory)->reserve_document_key(), kDocuments + 1);
}

TEST(ReadableRows, AWholeStoreHasNoFaults) {
    const TestDirectory directory(quick_parent());
    write_documents(directory);

    EXPECT_TRUE(inspected(directory)->faults()->empty());
}

TEST(ReadableRows, EachFaultNamesItsDocument) {
    const TestDirectory directory(quick_parent());
    write_documents(directory);
    tamper(directory,
           "UPDATE updates SET bytes = zeroblob(9) WHERE document = 5 AND sequence = 1; "
           "DELETE FROM documents WHERE document = 6");

    const std::vector<StoreFault> faults = inspected(directory)->faults().value();

    std::string all;
    for (const StoreFault& fault : faults) cat_to(all, cat(fault.document, ": ", fault.what, "\n"));
    EXPECT_EQ(all,
              "5: a row of updates is not what was written\n"
              "6: a row of updates belongs to no document\n");
}

TEST(ReadableRows, ADamagedSearchIndexIsAFaultOfItsOwnAndCanBeMadeAnew) {
    const TestDirectory directory(quick_parent());
    write_documents(directory);
    {
        const auto store = inspected(directory);
        ASSERT_TRUE(commit(*store, {.texts = {{.document = 1, .version = 1, .content = "roots"}}}));
    }
    tamper(directory, "UPDATE texts_content SET c2 = 'branches'");
    const auto store = inspected(directory);
    const std::vector<StoreFault> faults = store->faults().value();
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_TRUE(faults[0].in_index);

    ASSERT_TRUE(store->reset_texts());

    EXPECT_TRUE(store->faults()->empty());
    EXPECT_FALSE(store->text(1)->has_value());
}

TEST(StoreBackup, ACopyHasWhatWasThereAndIsNeverWrittenOver) {
    const TestDirectory directory(quick_parent());
    write_documents(directory);
    const auto store = opened(directory);

    ASSERT_TRUE(store->back_up(directory / "copy"));

    const Result<void> again = store->back_up(directory / "copy");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().reason(), "file_exists");
    const TestDirectory elsewhere(quick_parent());
    elsewhere.put("quire.db", directory.get("copy"));
    EXPECT_EQ(opened(elsewhere)->load(kDocuments)->updates.size(), 3U);
}

TEST(StoreBackup, EditsGoOnDuringACopyWhichIsOneMomentOfThem) {
    const TestDirectory directory(quick_parent());
    write_documents(directory);
    const auto store = opened(directory);
    // The two records of a batch are in a copy together.
    std::atomic<bool> done = false;
    std::thread writer([&] {
        for (std::uint64_t version = 1; !done; ++version) {
            ASSERT_TRUE(
                commit(*store, {.blocks = {{1, "a", version, {}}, {40, "b", version, {}}}}));
        }
    });
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(store->back_up(directory / cat("copy", i)));
    done = true;
    writer.join();

    for (int i = 0; i < 5; ++i) {
        const TestDirectory elsewhere(quick_parent());
        elsewhere.put("quire.db", directory.get(cat("copy", i)));
        const auto copy = inspected(elsewhere);
        EXPECT_TRUE(copy->faults()->empty());
        const auto first = copy->load(1)->blocks;
        const auto last = copy->load(40)->blocks;
        ASSERT_EQ(first.size(), last.size());
        if (!first.empty()) {
            EXPECT_EQ(first[0].version, last[0].version);
        }
    }
}

}  // namespace
}  // namespace quire::store
