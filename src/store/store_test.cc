// The promises of every store: each test runs on both implementations.
#include "store/store.h"

#include <atomic>
#include <csignal>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "store/audit_chain.h"
#include "store/memory_store_for_test.h"
#include "store/test_disk.h"

namespace quire::store {
namespace {

class OnMemory {
public:
    void open() { store_ = std::make_unique<MemoryStore>(disk_); }
    void close() { store_.reset(); }
    Store& store() { return *store_; }
    void fill_disk() { disk_->set_full(true); }
    void free_disk() { disk_->set_full(false); }

private:
    std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
    std::unique_ptr<Store> store_;
};

class OnSqlite {
public:
    OnSqlite() { std::signal(SIGXFSZ, SIG_IGN); }
    OnSqlite(const OnSqlite&) = delete;
    OnSqlite& operator=(const OnSqlite&) = delete;
    ~OnSqlite() { free_disk(); }
    void open() {
        Result<Opened> opened = open_sqlite(directory_ / "quire.db");
        ASSERT_TRUE(opened) << opened.error().message();
        store_ = std::move(opened->store);
    }
    void close() { store_.reset(); }
    Store& store() { return *store_; }
    // No file may grow beyond what the small batches of these tests need.
    void fill_disk() { limit_files(1U << 20); }
    void free_disk() { limit_files(RLIM_INFINITY); }

private:
    static void limit_files(rlim_t bytes) {
        rlimit limit = {};
        ::getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = std::min(bytes, limit.rlim_max);
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    TestDirectory directory_;
    std::unique_ptr<Store> store_;
};

template <class Disk>
class StoreContract : public ::testing::Test {
protected:
    void SetUp() override { disk_.open(); }
    void reopen() {
        disk_.close();
        disk_.open();
    }
    Store& store() { return disk_.store(); }
    Disk disk_;
};

using Disks = ::testing::Types<OnMemory, OnSqlite>;
TYPED_TEST_SUITE(StoreContract, Disks);

DocumentRecord document(DocumentKey key, const std::string& name) {
    return {.key = key,
            .kind = "conversation",
            .name = name,
            .deleted = false,
            .header = bytes("header")};
}

Batch update(DocumentKey key, std::string_view text) {
    return {.updates = {{key, bytes(text)}}};
}

Batch block(DocumentKey key, const std::string& id, std::uint64_t version) {
    return {.blocks = {{.document = key, .block = id, .version = version, .header = bytes(id)}}};
}

Batch huge(DocumentKey key) {
    return {.updates = {{key, Bytes(std::size_t{8} << 20, 7)}}};
}

std::vector<std::string> texts(const StoredDocument& stored) {
    std::vector<std::string> all;
    for (const Bytes& update : stored.updates) all.emplace_back(update.begin(), update.end());
    return all;
}

using Texts = std::vector<std::string>;

TYPED_TEST(StoreContract, ANewStoreIsEmpty) {
    EXPECT_TRUE(this->store().documents()->empty());
    EXPECT_TRUE(this->store().load(1)->updates.empty());
    EXPECT_EQ(this->store().record(token("t", "agent:a")).value(), std::nullopt);
    EXPECT_EQ(this->store().reserve_document_key(), 1);
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

// The bodies of the audit log, which must be whole.
Texts audited(Store& store) {
    AuditWalk walk(store.audit_origin().value());
    Texts bodies;
    const std::vector<AuditEntry> log = store.audit_after(0, 100'000).value();
    for (const AuditEntry& entry : log) {
        const auto wrong = walk.take(entry);
        EXPECT_FALSE(wrong) << entry.seq << ": " << *wrong;
        bodies.push_back(entry.body);
    }
    return bodies;
}

TYPED_TEST(StoreContract, AuditEntriesAreChainedInTheOrderInWhichTheyCame) {
    ASSERT_TRUE(commit(this->store(), {.audit = {"1", "2"}}));
    EXPECT_TRUE(this->store().note("3"));
    EXPECT_TRUE(this->store().note("4"));
    ASSERT_TRUE(commit(this->store(), {.audit = {"5"}}));
    EXPECT_EQ(audited(this->store()), (Texts{"1", "2", "3", "4", "5"}));
    const AuditHash head = this->store().audit_before(1000, 1)->at(0).hash;
    this->reopen();
    EXPECT_EQ(this->store().audit_before(1000, 1)->at(0).hash, head);
    ASSERT_TRUE(commit(this->store(), {.audit = {"6"}}));
    EXPECT_EQ(audited(this->store()), (Texts{"1", "2", "3", "4", "5", "6"}));
}

TYPED_TEST(StoreContract, AuditEntriesAreReadInPieces) {
    ASSERT_TRUE(commit(this->store(), {.audit = {"1", "2", "3", "4", "5"}}));
    const auto seqs = [](const Result<std::vector<AuditEntry>>& entries) {
        std::vector<std::uint64_t> out;
        for (const AuditEntry& entry : *entries) out.push_back(entry.seq);
        return out;
    };
    using Seqs = std::vector<std::uint64_t>;
    EXPECT_EQ(seqs(this->store().audit_before(~std::uint64_t{0}, 2)), (Seqs{5, 4}));
    EXPECT_EQ(seqs(this->store().audit_before(4, 9)), (Seqs{3, 2, 1}));
    EXPECT_EQ(seqs(this->store().audit_before(1, 9)), Seqs());
    EXPECT_EQ(seqs(this->store().audit_after(0, 2)), (Seqs{1, 2}));
    EXPECT_EQ(seqs(this->store().audit_after(4, 9)), (Seqs{5}));
}

TYPED_TEST(StoreContract, NotesAreWrittenWithinASecondWithoutABatch) {
    EXPECT_TRUE(this->store().note("alone"));
    for (int i = 0; i < 500 && audited(this->store()).empty(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(audited(this->store()), (Texts{"alone"}));
}

TYPED_TEST(StoreContract, NotesAreWrittenAtTheEnd) {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(this->store().note(std::to_string(i)));
    this->reopen();
    EXPECT_EQ(audited(this->store()).size(), 100U);
}

TYPED_TEST(StoreContract, TheNotesOfARefusedBatchGoWithTheNext) {
    ASSERT_TRUE(commit(this->store(), update(1, "before")));
    this->disk_.fill_disk();
    EXPECT_TRUE(this->store().note("called"));
    Batch refused = huge(1);
    refused.audit = {"done"};
    EXPECT_EQ(reason(commit(this->store(), std::move(refused))), "disk_full");
    EXPECT_TRUE(this->store().note("called again"));
    // Refused as the document is fenced: it never gets to the disk.
    Batch fenced = update(1, "fenced");
    fenced.audit = {"done, too"};
    EXPECT_EQ(reason(commit(this->store(), std::move(fenced))), "document_fenced");
    Batch taken = block(2, "b", 1);
    taken.audit = {"done at last"};
    EXPECT_TRUE(commit(this->store(), std::move(taken)));
    EXPECT_EQ(audited(this->store()), (Texts{"called", "called again", "done at last"}));
    this->disk_.free_disk();
}

// Refusals in between change nothing: when a batch is durable, so is everything noted before it.
TYPED_TEST(StoreContract, NotesAreDurableWithAnyBatchThatComesAfterThem) {
    ASSERT_TRUE(commit(this->store(), update(1, "before")));
    this->disk_.fill_disk();
    std::vector<std::future<Result<void>>> answers;
    for (int i = 0; i < 60; ++i) {
        EXPECT_TRUE(this->store().note(std::to_string(i)));
        const DocumentKey key = 10 + i;
        answers.push_back(start(this->store(), i % 3 == 0 ? huge(key) : block(key, "b", 1)));
    }
    int refused = 0;
    for (auto& answer : answers) refused += answer.get().has_value() ? 0 : 1;
    EXPECT_EQ(refused, 20);
    const Texts log = audited(this->store());
    ASSERT_EQ(log.size(), 60U);
    for (int i = 0; i < 60; ++i) EXPECT_EQ(log[static_cast<std::size_t>(i)], std::to_string(i));
    this->disk_.free_disk();
}

TYPED_TEST(StoreContract, ConcurrentWritersMakeOneChain) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; i < 100; ++i) {
                EXPECT_TRUE(this->store().note("n" + std::to_string(thread)));
                Batch batch = block(1 + thread, "b", static_cast<std::uint64_t>(i + 1));
                batch.audit = {"b" + std::to_string(thread)};
                this->store().commit(std::move(batch), [](Result<void>) {});
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    this->reopen();
    EXPECT_EQ(audited(this->store()).size(), 800U);
}

TYPED_TEST(StoreContract, OnAFullDiskNotesAreBoundedAndNoneIsLost) {
    this->disk_.fill_disk();
    const std::string large(Store::kMostNoted / 4, 'x');
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(this->store().note(large));
    EXPECT_EQ(reason(commit(this->store(), {})), "disk_full");
    std::size_t taken = 4;
    // While it is tried again there is room for more, now and then.
    bool is_full = false;
    for (int i = 0; i < 5000 && !is_full; ++i) {
        is_full = !this->store().note("one more");
        taken += is_full ? 0 : 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(is_full);
    this->disk_.free_disk();
    ASSERT_TRUE(commit(this->store(), {}));
    EXPECT_TRUE(this->store().note("room again"));
    ASSERT_TRUE(commit(this->store(), {}));
    EXPECT_EQ(audited(this->store()).size(), taken + 1);
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

TextRecord text(DocumentKey key, const std::string& name, const std::string& content,
                const std::string& tags = "all") {
    return {.document = key, .version = 1, .name = name, .content = content, .tags = tags};
}

// The keys of what is found, best first.
std::string found(Store& store, TextQuery query) {
    if (query.tags.empty()) query.tags = {{"all"}};
    std::string out;
    const Result<std::vector<TextHit>> hits = store.search(query);
    if (!hits) return hits.error().message();
    for (const TextHit& hit : *hits) out += (out.empty() ? "" : " ") + std::to_string(hit.document);
    return out;
}

TYPED_TEST(StoreContract, TextsAreFoundByWordsAndPhrasesBestFirst) {
    ASSERT_TRUE(commit(
        this->store(),
        {.texts = {
             text(1, "notes", "the red house and the blue car, and much else that was said of it"),
             text(2, "red things", "a car"), text(3, "diary", "House: red, red and RED."),
             text(4, "other", "nothing of it")}}));
    this->reopen();
    Store& store = this->store();

    EXPECT_EQ(found(store, {.all = {"red"}}), "2 3 1");
    EXPECT_EQ(found(store, {.all = {"Red"}, .limit = 1}), "2");
    EXPECT_EQ(found(store, {.all = {"red house"}}), "1");
    EXPECT_EQ(found(store, {.all = {"house-red"}}), "3");
    EXPECT_EQ(found(store, {.all = {"red", "car"}}), "2 1");
    EXPECT_EQ(found(store, {.all = {"red"}, .none = {"blue car"}}), "2 3");
    EXPECT_EQ(found(store, {.none = {"car", "diary"}}), "4");
    EXPECT_EQ(found(store, {.all = {"car"}, .in_name = {"red"}}), "2");
    EXPECT_EQ(found(store, {.all = {"red"}, .not_in_name = {"red", "notes"}}), "3");
    EXPECT_EQ(found(store, {.all = {"green"}}), "");
    TextQuery query{.all = {"blue"}};
    query.tags = {{"all"}};
    const std::string snippet = store.search(query)->front().snippet;
    EXPECT_NE(snippet.find(std::string("the ") + kHit + "blue" + kHitEnd + " car"),
              std::string::npos)
        << snippet;
}

TYPED_TEST(StoreContract, TextsAreFoundByThoseWhoHaveATagOfEachGroup) {
    ASSERT_TRUE(commit(this->store(), {.texts = {text(1, "a", "x", "all r1 core"),
                                                 text(2, "b", "x", "all r2 core"),
                                                 text(3, "c", "x", "all r1 old")}}));
    const auto with = [&](std::vector<std::vector<std::string>> tags) {
        TextQuery query{.all = {"x"}};
        query.tags = std::move(tags);
        return found(this->store(), query);
    };

    EXPECT_EQ(with({{"r2"}}), "2");
    EXPECT_EQ(with({{"r1"}, {"old"}}), "3");
    EXPECT_EQ(with({{"r3"}}), "");
    EXPECT_EQ(with({{"r2", "r3"}, {"old", "core"}}), "2");
    EXPECT_EQ(found(this->store(), {.all = {"r1"}}), "");
    EXPECT_EQ(found(this->store(), {.all = {"core"}}), "");
}

TYPED_TEST(StoreContract, TagsAreInNoSnippet) {
    ASSERT_TRUE(commit(this->store(),
                       {.texts = {text(1, "alpha", "some text to begin with, and x", "r1 core"),
                                  text(2, "x", "nothing", "r1 core"),
                                  {.document = 3,
                                   .version = 1,
                                   .name = "c",
                                   .description = "an x",
                                   .content = "y",
                                   .tags = "r1 core"}}}));
    TextQuery query{.all = {"x"}};
    query.tags = {{"r1"}, {"core"}};
    std::map<DocumentKey, std::string> snippets;
    const auto hits = this->store().search(query);
    for (const TextHit& hit : *hits) snippets[hit.document] = hit.snippet;

    ASSERT_EQ(snippets.size(), 3U);
    const std::string hit = std::string(1, kHit) + "x" + kHitEnd;
    EXPECT_NE(snippets[1].find("and " + hit), std::string::npos) << snippets[1];
    EXPECT_EQ(snippets[2], hit);
    EXPECT_EQ(snippets[3], "an " + hit);
    query.all.clear();
    const auto all = this->store().search(query);
    for (const TextHit& each : *all) {
        EXPECT_EQ(each.snippet.find("r1"), std::string::npos) << each.snippet;
        EXPECT_EQ(each.snippet.find("core"), std::string::npos) << each.snippet;
    }
}

TYPED_TEST(StoreContract, ATextIsNotReplacedByAnOlderOne) {
    Store& store = this->store();
    const auto put = [&](std::uint64_t version, const std::string& content, bool gone = false) {
        ASSERT_TRUE(commit(store, {.texts = {{.document = 1,
                                              .version = version,
                                              .gone = gone,
                                              .name = "a",
                                              .content = content,
                                              .tags = "all"}}}));
    };
    put(2, "two");
    put(1, "one");
    EXPECT_EQ(found(store, {.all = {"one"}}), "");
    EXPECT_EQ(found(store, {.all = {"two"}}), "1");
    put(3, "three");
    EXPECT_EQ(found(store, {.all = {"two"}}), "");
    EXPECT_EQ(found(store, {.all = {"three"}}), "1");
    put(0, "", true);
    put(4, "four");
    EXPECT_EQ(found(store, {.all = {"a"}}), "");
}

TYPED_TEST(StoreContract, SearchedWordsAreNeverTakenForSyntax) {
    ASSERT_TRUE(commit(this->store(), {.texts = {text(1, "a", "word AND other, tags"),
                                                 text(2, "b", "word", "all secret")}}));
    Store& store = this->store();

    for (const char* odd : {"\"", "a\" OR tags : \"secret", "*", "word*", "^word", "(word", "NEAR(",
                            "-", "tags : secret", "word OR nothing", "{name} : a", "+ word", ")",
                            ":", "\xf0\x9f\x98\x80"}) {
        const std::string answer = found(store, {.all = {odd}});
        EXPECT_TRUE(answer.empty() || answer.starts_with("1") || answer == "2 1")
            << odd << ": " << answer;
        EXPECT_EQ(found(store, {.all = {odd, "nowhere"}}), "") << odd;
    }
    EXPECT_EQ(found(store, {.all = {"AND"}}), "1");
    EXPECT_EQ(found(store, {.all = {"OR"}}), "");
    EXPECT_EQ(found(store, {.all = {"word and other"}}), "1");
}

TYPED_TEST(StoreContract, ATextIsStaleUntilItMatchesItsBlock) {
    Store& store = this->store();
    const auto stale = [&] {
        std::string out;
        const std::vector<DocumentKey> keys = store.stale_texts("conversation").value();
        for (const DocumentKey key : keys) out += std::to_string(key) + " ";
        return out;
    };
    Batch made{.documents = {document(1, "a"), document(2, "b")}};
    made.blocks = {{.document = 1, .version = 1}, {.document = 2, .version = 4}};
    ASSERT_TRUE(commit(store, made));
    EXPECT_EQ(stale(), "1 2 ");
    ASSERT_TRUE(commit(store, {.texts = {text(1, "a", "x"), text(2, "b", "x")}}));
    EXPECT_EQ(stale(), "2 ");
    EXPECT_EQ(store.whole_blocks("conversation")->size(), 2U);
    EXPECT_EQ(store.whole_blocks("memory")->size(), 0U);

    DocumentRecord deleted = document(1, "a");
    deleted.deleted = true;
    ASSERT_TRUE(commit(store, {.documents = {deleted}}));
    EXPECT_EQ(stale(), "1 2 ");
    EXPECT_EQ(store.whole_blocks("conversation")->front().version, 4U);
    ASSERT_TRUE(commit(store, {.texts = {{.document = 1, .gone = true},
                                         {.document = 2, .version = 4, .name = "b"}}}));

    EXPECT_EQ(stale(), "");
    EXPECT_EQ(found(store, {.all = {"x"}}), "");
    EXPECT_EQ(found(store, {.all = {"b"}}), "");
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
