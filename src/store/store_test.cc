// Documents, updates, blocks and records in every store.
#include "store/store.h"

#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "store/store_contract_for_test.h"

namespace quire::store {
namespace {

TYPED_TEST(StoreContract, ANewStoreIsEmpty) {
    EXPECT_TRUE(this->store().documents()->empty());
    EXPECT_TRUE(this->store().load(1)->updates.empty());
    EXPECT_EQ(this->store().record(token("t", "agent:a")).value(), std::nullopt);
    EXPECT_EQ(this->store().reserve_document_key(), 1);
}

TYPED_TEST(StoreContract, TheMarkOfADocumentChangesWithItsBlocks) {
    const auto mark = [&] { return this->store().mark(7).value(); };
    const auto block = [](const char* name, std::uint64_t version) {
        return BlockRecord{.document = 7, .block = name, .version = version};
    };
    EXPECT_EQ(mark(), DocumentMark());
    ASSERT_TRUE(commit(this->store(), {.documents = {document(7, "main"), document(8, "other")},
                                       .blocks = {block("b1", 1)}}));
    EXPECT_EQ(mark(), (DocumentMark{1, 1}));
    ASSERT_TRUE(commit(this->store(), {.blocks = {block("b1", 2), block("b2", 1)}}));
    EXPECT_EQ(mark(), (DocumentMark{2, 3}));
    ASSERT_TRUE(commit(this->store(), {.blocks = {{.document = 8, .block = "b1", .version = 9}}}));
    ASSERT_TRUE(commit(this->store(), {.compactions = {{7, bytes("sum")}}}));
    this->reopen();
    EXPECT_EQ(mark(), (DocumentMark{2, 3}));
}

TYPED_TEST(StoreContract, EveryRecordIsThereAfterAReopening) {
    const std::uint64_t high = 0xfedc'ba98'7654'3210U;
    Batch batch{
        .documents = {document(7, "main")},
        .peers = {{.document = 7, .number = 3, .actor = "agent:a", .peer = high}},
        .updates = {{7, bytes("one")}, {7, Bytes{}}},
        .blocks = {{.document = 7, .block = "b1", .version = high, .header = Bytes{0, 1, 0}}},
        .units = {{.document = 7,
                   .block = "b1",
                   .version = 2,
                   .actor = "agent:a",
                   .at_ms = -5,
                   .description = "edit",
                   .state = "done",
                   .body = bytes("span")}},
        .records = {},
        .texts = {},
        .compactions = {}};
    batch.keep(token("t", "agent:a"), "b1");
    batch.keep(approval("ap_2"), "two");
    batch.keep(approval("ap_1"), std::string_view("\0\1", 2));
    ASSERT_TRUE(commit(this->store(), batch));
    this->reopen();

    const std::vector<DocumentRecord> documents = this->store().documents().value();
    ASSERT_EQ(documents.size(), 1U);
    EXPECT_EQ(documents[0].key, 7);
    EXPECT_EQ(documents[0].kind, "conversation");
    EXPECT_EQ(documents[0].name, "main");
    EXPECT_FALSE(documents[0].deleted);
    EXPECT_EQ(documents[0].header, bytes("header"));
    const StoredDocument stored = this->store().load(7).value();
    EXPECT_EQ(texts(stored), (Texts{"one", ""}));
    ASSERT_EQ(stored.peers.size(), 1U);
    EXPECT_EQ(stored.peers[0].document, 7);
    EXPECT_EQ(stored.peers[0].number, 3);
    EXPECT_EQ(stored.peers[0].actor, "agent:a");
    EXPECT_EQ(stored.peers[0].peer, high);
    ASSERT_EQ(stored.blocks.size(), 1U);
    EXPECT_EQ(stored.blocks[0].block, "b1");
    EXPECT_EQ(stored.blocks[0].version, high);
    EXPECT_EQ(stored.blocks[0].header, (Bytes{0, 1, 0}));
    ASSERT_EQ(stored.units.size(), 1U);
    EXPECT_EQ(stored.units[0].block, "b1");
    EXPECT_EQ(stored.units[0].version, 2U);
    EXPECT_EQ(stored.units[0].actor, "agent:a");
    EXPECT_EQ(stored.units[0].at_ms, -5);
    EXPECT_EQ(stored.units[0].description, "edit");
    EXPECT_EQ(stored.units[0].state, "done");
    EXPECT_EQ(stored.units[0].body, bytes("span"));
    EXPECT_EQ(this->store().record(token("t", "agent:a")).value(), bytes("b1"));
    EXPECT_EQ(this->store().record(token("t", "agent:b")).value(), std::nullopt);
    EXPECT_EQ(all_of(this->store(), Table::tokens), "agent:a t b1\n");
    const std::vector<KeyedRecord> approvals = this->store().records(Table::approvals).value();
    ASSERT_EQ(approvals.size(), 2U);
    EXPECT_EQ(approvals[0].key, approval("ap_1"));
    EXPECT_EQ(approvals[0].body, (Bytes{0, 1}));
    EXPECT_EQ(approvals[1].key, approval("ap_2"));
    EXPECT_EQ(approvals[1].body, bytes("two"));
}

TYPED_TEST(StoreContract, AFactAboutAnAgentsCallsIsReplaced) {
    Batch batch;
    batch.keep(fact("bob", "b"), "1");
    batch.keep(fact("ada", "b"), "2");
    batch.keep(fact("ada", "a"), "");
    ASSERT_TRUE(commit(this->store(), batch));
    ASSERT_TRUE(commit(this->store(), keeping(fact("ada", "b"), "3")));
    this->reopen();
    EXPECT_EQ(all_of(this->store(), Table::rule_facts), "ada a \nada b 3\nbob b 1\n");

    batch = {};
    batch.drop(fact("ada", "b"));
    batch.drop(fact("ada", "none"));
    ASSERT_TRUE(commit(this->store(), batch));
    this->reopen();
    EXPECT_EQ(this->store().records(Table::rule_facts)->size(), 2U);
}

TYPED_TEST(StoreContract, ThePinOfAMountIsReplaced) {
    Batch batch;
    batch.keep(pin("web"), "1");
    batch.keep(pin("fs"), "2");
    ASSERT_TRUE(commit(this->store(), batch));
    ASSERT_TRUE(commit(this->store(), keeping(pin("fs"), "3")));
    this->reopen();

    EXPECT_EQ(all_of(this->store(), Table::mount_pins), "fs 3\nweb 1\n");
}

TYPED_TEST(StoreContract, AnApprovalIsReplacedOrRemoved) {
    Batch batch;
    batch.keep(approval("ap_1"), "asked");
    batch.keep(approval("ap_2"), "");
    ASSERT_TRUE(commit(this->store(), batch));
    batch = keeping(approval("ap_1"), "answered");
    batch.drop(approval("ap_2"));
    ASSERT_TRUE(commit(this->store(), batch));
    this->reopen();

    EXPECT_EQ(all_of(this->store(), Table::approvals), "ap_1 answered\n");
}

TYPED_TEST(StoreContract, TheNewestUnitsComeFirstWhoseverTheyAre) {
    Batch batch;
    for (const std::int64_t at : {30, 10, 20}) {
        batch.units.push_back({.document = 1,
                               .block = "b",
                               .version = static_cast<std::uint64_t>(at),
                               .actor = at == 20 ? "agent:bo" : "agent:ada",
                               .at_ms = at,
                               .description = "edit",
                               .state = "done",
                               .body = {}});
    }
    ASSERT_TRUE(commit(this->store(), std::move(batch)));

    const auto moments = [&](const std::string& actor, std::size_t limit) {
        std::vector<std::int64_t> at;
        const std::vector<UnitRecord> units = this->store().recent_units(actor, limit).value();
        at.reserve(units.size());
        for (const UnitRecord& unit : units) at.push_back(unit.at_ms);
        return at;
    };
    EXPECT_EQ(moments("", 2), (std::vector<std::int64_t>{30, 20}));
    EXPECT_EQ(moments("agent:ada", 9), (std::vector<std::int64_t>{30, 10}));
}

TYPED_TEST(StoreContract, TheNewestUnitIsTheOneThatWasStoredLastWhateverTheClockSays) {
    const auto unit = [](std::uint64_t version, std::int64_t at, const std::string& state) {
        Batch batch;
        batch.units.push_back({.document = 1,
                               .block = "b",
                               .version = version,
                               .actor = "agent:ada",
                               .at_ms = at,
                               .description = "edit",
                               .state = state,
                               .body = {}});
        return batch;
    };
    ASSERT_TRUE(commit(this->store(), unit(1, 100, "done")));
    ASSERT_TRUE(commit(this->store(), unit(2, 50, "done")));
    ASSERT_TRUE(commit(this->store(), unit(1, 100, "undone")));

    const std::vector<UnitRecord> units = this->store().recent_units("", 9).value();

    ASSERT_EQ(units.size(), 2U);
    EXPECT_EQ(units[0].version, 2U);
    EXPECT_EQ(units[1].state, "undone");
}

TYPED_TEST(StoreContract, ARecordWithAKnownKeyReplacesTheOneBefore) {
    ASSERT_TRUE(commit(this->store(), {.documents = {document(1, "main")}}));
    ASSERT_TRUE(commit(this->store(), block(1, "b", 1)));
    DocumentRecord renamed = document(1, "other");
    renamed.deleted = true;
    ASSERT_TRUE(commit(this->store(), {.documents = {renamed}}));
    ASSERT_TRUE(commit(this->store(), block(1, "b", 2)));

    const std::vector<DocumentRecord> documents = this->store().documents().value();
    ASSERT_EQ(documents.size(), 1U);
    EXPECT_EQ(documents[0].name, "other");
    EXPECT_TRUE(documents[0].deleted);
    const StoredDocument stored = this->store().load(1).value();
    ASSERT_EQ(stored.blocks.size(), 1U);
    EXPECT_EQ(stored.blocks[0].version, 2U);
}

TYPED_TEST(StoreContract, UpdatesKeepTheirOrderAndTheirDocument) {
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(
            commit(this->store(), update(1 + i % 2, std::string(1, static_cast<char>('a' + i)))));
    }
    this->reopen();
    EXPECT_EQ(texts(this->store().load(1).value()),
              (Texts{"a", "c", "e", "g", "i", "k", "m", "o", "q", "s"}));
    EXPECT_EQ(texts(this->store().load(2).value()),
              (Texts{"b", "d", "f", "h", "j", "l", "n", "p", "r", "t"}));
}

TYPED_TEST(StoreContract, ACompactionReplacesAllUpdatesAndThoseOfItsBatchFollowIt) {
    for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(commit(this->store(), update(1, text)));
    ASSERT_TRUE(commit(this->store(), update(2, "other")));
    ASSERT_TRUE(
        commit(this->store(), {.updates = {{1, bytes("d")}}, .compactions = {{1, bytes("abc")}}}));
    ASSERT_TRUE(commit(this->store(), update(1, "e")));
    this->reopen();
    EXPECT_EQ(texts(this->store().load(1).value()), (Texts{"abc", "d", "e"}));
    EXPECT_EQ(texts(this->store().load(2).value()), (Texts{"other"}));
}

TYPED_TEST(StoreContract, TwoDocumentsOfOneKindAndNameAreRefusedWhole) {
    ASSERT_TRUE(commit(this->store(), {.documents = {document(1, "main")}}));

    const Result<void> second =
        commit(this->store(), {.documents = {document(2, "main")}, .updates = {{2, bytes("x")}}});

    EXPECT_EQ(reason(second), "constraint");
    EXPECT_EQ(this->store().documents()->size(), 1U);
    EXPECT_TRUE(this->store().load(2)->updates.empty());
}

TYPED_TEST(StoreContract, TheNameOfADeletedDocumentIsFree) {
    DocumentRecord gone = document(1, "main");
    gone.deleted = true;
    ASSERT_TRUE(commit(this->store(), {.documents = {gone}}));
    EXPECT_TRUE(commit(this->store(), {.documents = {document(2, "main")}}));
    DocumentRecord file = document(3, "main");
    file.kind = "file";
    EXPECT_TRUE(commit(this->store(), {.documents = {file}}));
}

TYPED_TEST(StoreContract, KeysGoOnAfterTheHighestEvenOfDeletedDocuments) {
    DocumentRecord gone = document(this->store().reserve_document_key() + 40, "main");
    gone.deleted = true;
    ASSERT_TRUE(commit(this->store(), {.documents = {gone}}));
    this->reopen();
    EXPECT_EQ(this->store().reserve_document_key(), 42);
    EXPECT_EQ(this->store().reserve_document_key(), 43);
}

TYPED_TEST(StoreContract, AnswersComeInTheOrderOfTheCalls) {
    std::vector<int> order;  // Filled on the store's thread alone.
    for (int i = 0; i < 500; ++i) {
        this->store().commit(update(1, std::to_string(i)), [&order, i](Result<void> result) {
            if (result) order.push_back(i);
        });
    }
    this->disk_.close();
    ASSERT_EQ(order.size(), 500U);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    this->disk_.open();
}

TYPED_TEST(StoreContract, ClosingWritesWhatIsQueued) {
    for (int i = 0; i < 300; ++i) this->store().commit(update(1, "x"), [](Result<void>) {});
    this->reopen();
    EXPECT_EQ(this->store().load(1)->updates.size(), 300U);
}

TYPED_TEST(StoreContract, AReadSeesAcknowledgedBatchesWhileOthersWrite) {
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (!stop) static_cast<void>(commit(this->store(), update(2, "noise")));
    });
    for (int i = 1; i <= 200; ++i) {
        EXPECT_TRUE(commit(this->store(), update(1, "x")));
        EXPECT_EQ(this->store().load(1)->updates.size(), static_cast<std::size_t>(i));
    }
    stop = true;
    other.join();
}

TYPED_TEST(StoreContract, AReadMayBeMadeFromAnAnswer) {
    std::promise<std::size_t> seen;
    this->store().commit(update(1, "x"), [&](Result<void>) {
        seen.set_value(this->store().load(1)->updates.size());
    });
    EXPECT_EQ(seen.get_future().get(), 1U);
}

TYPED_TEST(StoreContract, AFullDiskRefusesTheBatchAndTakesLaterOnes) {
    ASSERT_TRUE(commit(this->store(), update(1, "before")));
    this->disk_.fill_disk();
    EXPECT_EQ(reason(commit(this->store(), huge(1))), "disk_full");
    EXPECT_TRUE(commit(this->store(), block(2, "b", 1)));
    this->disk_.free_disk();
    this->store().unfence(1);
    EXPECT_TRUE(commit(this->store(), update(1, "after")));
    this->reopen();
    EXPECT_EQ(texts(this->store().load(1).value()), (Texts{"before", "after"}));
    EXPECT_EQ(this->store().load(2)->blocks.size(), 1U);
}

TYPED_TEST(StoreContract, BehindAFailedBatchOnlyItsDocumentsAreFenced) {
    this->disk_.fill_disk();
    auto failing = start(this->store(), huge(1));
    auto behind = start(this->store(), block(1, "b", 1));
    auto other = start(this->store(), block(2, "b", 1));
    EXPECT_EQ(reason(failing.get()), "disk_full");
    EXPECT_EQ(reason(behind.get()), "document_fenced");
    EXPECT_TRUE(other.get());
    this->disk_.free_disk();

    EXPECT_EQ(reason(commit(this->store(), block(1, "b", 2))), "document_fenced");
    this->store().unfence(1);
    EXPECT_TRUE(commit(this->store(), block(1, "b", 3)));
    EXPECT_EQ(this->store().load(1)->blocks.at(0).version, 3U);
}

TYPED_TEST(StoreContract, AFenceSpreadsToAllDocumentsOfARefusedBatch) {
    this->disk_.fill_disk();
    EXPECT_EQ(reason(commit(this->store(), huge(1))), "disk_full");
    this->disk_.free_disk();
    Batch both = block(1, "b", 1);
    both.updates.push_back({2, bytes("x")});
    EXPECT_EQ(reason(commit(this->store(), both)), "document_fenced");
    EXPECT_EQ(reason(commit(this->store(), update(2, "y"))), "document_fenced");
    this->store().unfence(2);
    EXPECT_TRUE(commit(this->store(), update(2, "z")));
    EXPECT_EQ(texts(this->store().load(2).value()), (Texts{"z"}));
}

TYPED_TEST(StoreContract, RandomBatchesReadBackAsAModelSays) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
    std::map<DocumentKey, Texts> updates;
    std::map<std::pair<DocumentKey, std::string>, std::uint64_t> blocks;

    std::vector<std::future<Result<void>>> answers;
    for (int i = 0; i < 400; ++i) {
        Batch batch;
        for (unsigned n = below(4); n > 0; --n) {
            const DocumentKey key = 1 + below(3);
            if (below(20) == 0 && batch.updates.empty() && batch.compactions.empty()) {
                batch.compactions = {{key, bytes("compacted")}};
                updates[key] = {"compacted"};
            } else if (below(2) == 0) {
                const std::string text(below(below(10) == 0 ? 20'000 : 50),
                                       static_cast<char>('a' + below(26)));
                batch.updates.push_back({key, bytes(text)});
                updates[key].push_back(text);
            } else {
                const std::string id = "b" + std::to_string(below(10));
                const std::uint64_t version = random();
                batch.blocks.push_back(
                    {.document = key, .block = id, .version = version, .header = {}});
                blocks[{key, id}] = version;
            }
        }
        answers.push_back(start(this->store(), std::move(batch)));
        if (below(100) == 0) {
            for (auto& answer : answers) EXPECT_TRUE(answer.get());
            answers.clear();
            this->reopen();
        }
    }
    for (auto& answer : answers) EXPECT_TRUE(answer.get());

    std::size_t block_count = 0;
    for (DocumentKey key = 1; key <= 3; ++key) {
        const StoredDocument stored = this->store().load(key).value();
        EXPECT_TRUE(texts(stored) == updates[key]) << "document " << key;
        for (const BlockRecord& record : stored.blocks)
            EXPECT_EQ(record.version, (blocks[{key, record.block}]));
        block_count += stored.blocks.size();
    }
    EXPECT_EQ(block_count, blocks.size());
}

}  // namespace
}  // namespace quire::store
